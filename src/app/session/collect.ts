import { existsSync } from 'node:fs';
import { codeOf } from '../../core/errors.ts';
import { noting, type WorkOptions } from '../../core/progress.ts';
import { collectGarbage, type GcReport } from '../../keep/gc/collect-garbage.ts';
import type { KeepRules } from '../../keep/gc/going-builds.ts';
import { storeLayout } from '../../store/layout.ts';
import type { BuildRow } from '../../store/ledger/rows.ts';
import { keepReserve, spendReserve } from '../../store/reserve.ts';
import { buildOpener } from './build-opener.ts';
import type { Session } from './session.ts';

interface CollectRequest extends WorkOptions {
  rules: KeepRules;
  /** Finds builds that go, whatever the rules say. */
  forget?: () => Promise<readonly BuildRow[]>;
  dryRun?: boolean | undefined;
}

/** Gives back what a session's store holds and no build wants, or plans it. */
export async function collect(session: Session, request: CollectRequest): Promise<GcReport> {
  const layout = storeLayout(session.storeFolder);
  try {
    return await runGc(session, request);
  } catch (error) {
    // On a full disk not even the ledger can be opened: there is a little space for that.
    if (codeOf(error) !== 'E_STORE_FULL' || !spendReserve(layout)) throw error;
    session.deriveBeside();
    return await runGc(session, request);
  } finally {
    if (request.dryRun !== true && existsSync(layout.ledger)) keepReserve(layout);
  }
}

async function runGc(session: Session, request: CollectRequest): Promise<GcReport> {
  const { rules, dryRun = false, signal, onProgress } = request;
  const store = await session.store({ create: false });
  return collectGarbage(store, {
    rules,
    forget: await request.forget?.(),
    dryRun,
    // Builds are opened to be looked at: nothing that they would tell is of interest.
    opener: buildOpener(session, { signal }),
    signal,
    onProgress: (phase, done, total) =>
      onProgress?.(phase === 'gc' ? { type: 'bytes', phase, done, total } : { type: 'entry', phase, done, total }),
    onNote: noting(onProgress),
  });
}
