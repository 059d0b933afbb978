import { existsSync } from 'node:fs';
import { codeOf, isPakratError, withHint } from '../../core/errors.ts';
import { noting, type WorkOptions } from '../../core/progress.ts';
import { collectGarbage, emptyReport, type GcReport } from '../../keep/gc/collect-garbage.ts';
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
  const report = emptyReport();
  let going: readonly BuildRow[] | undefined;
  const run = async (): Promise<GcReport> => {
    // Once: those that are forgotten when it fails are not found any more.
    going ??= await request.forget?.();
    return runGc(session, { ...request, going, report });
  };
  try {
    return await run().catch((error: unknown) => {
      // On a full disk not even the ledger can be opened: there is a little space for that.
      if (codeOf(error) !== 'E_STORE_FULL' || !spendReserve(layout)) throw error;
      session.deriveBeside();
      return run();
    });
  } catch (error) {
    throw afterForgetting(error, report);
  } finally {
    if (request.dryRun !== true && existsSync(layout.ledger)) keepReserve(layout);
  }
}

/** The error of a run that has forgotten builds: to forget them once more would fail. */
function afterForgetting(error: unknown, { builds }: GcReport): unknown {
  if (builds.length === 0 || !isPakratError(error)) return error;
  return withHint(
    error,
    'What was to be forgotten is forgotten; `pakrat gc` gives back the rest of what only it wanted.',
  );
}

interface GcRun extends Omit<CollectRequest, 'forget'> {
  going: readonly BuildRow[] | undefined;
  report: GcReport;
}

async function runGc(session: Session, request: GcRun): Promise<GcReport> {
  const { rules, going, report, dryRun = false, signal, onProgress } = request;
  const store = await session.store({ create: false });
  return collectGarbage(store, {
    rules,
    forget: going,
    report,
    dryRun,
    // Builds are opened to be looked at: nothing that they would tell is of interest.
    opener: buildOpener(session, { signal }),
    signal,
    onProgress: (phase, done, total) =>
      onProgress?.(phase === 'gc' ? { type: 'bytes', phase, done, total } : { type: 'entry', phase, done, total }),
    onNote: noting(onProgress),
  });
}
