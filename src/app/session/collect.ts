import type { WorkOptions } from '../../core/progress.ts';
import type { GcReport } from '../../keep/gc/collect-garbage.ts';
import type { KeepRules } from '../../keep/gc/going-builds.ts';
import type { BuildRow } from '../../store/ledger/rows.ts';
import type { Session } from './session.ts';

/** Gives back what a session's store holds and no build wants, or plans it. @param request.forget builds that go, whatever the rules say */
export async function collect(
  session: Session,
  request: WorkOptions & { rules: KeepRules; forget: readonly BuildRow[]; dryRun?: boolean | undefined },
): Promise<GcReport> {
  const { collectGarbage } = await import('../../keep/gc/collect-garbage.ts');
  const { buildOpener } = await import('./build-opener.ts');
  const { rules, forget, dryRun = false, signal, onProgress } = request;
  const store = await session.store({ create: false });
  return collectGarbage(store, {
    rules,
    forget,
    dryRun,
    // Builds are opened to be looked at: nothing that they would tell is of interest.
    opener: buildOpener(session, { signal }),
    signal,
    onProgress: (phase, done, total) =>
      onProgress?.(phase === 'gc' ? { type: 'bytes', phase, done, total } : { type: 'entry', phase, done, total }),
    onNote: (text) => onProgress?.({ type: 'note', text }),
  });
}
