import type { Build } from '../builds/build.ts';
import type { Fetcher } from '../fetch/fetcher.ts';
import type { Selection } from '../fetch/plan/selection.ts';
import type { PatchOptions } from './patches/patch-plan.ts';
import { syncBuild } from './sync-build.ts';
import { incomplete, interrupted } from './sync-errors.ts';
import type { SyncProgress } from './sync-progress.ts';
import { fetchedSoFar, reportPlan, type SyncReport } from './sync-report.ts';

/**
 * Syncs an open build, or plans it, and tells how far it is.
 * @param request.patches make entries out of older ones where that fetches less; undefined: fetch all
 * @throws E_INCOMPLETE when something is missing at the end, else as syncBuild
 */
export async function runSync(
  { fetcher, build }: { fetcher: Fetcher; build: Build },
  { selection, patches, dryRun }: { selection: Selection; patches: PatchOptions | undefined; dryRun: boolean },
  progress: SyncProgress,
): Promise<Omit<SyncReport, 'product' | 'build' | 'seconds'>> {
  if (dryRun) {
    const { patchReason, ...outcome } = await reportPlan(fetcher, build, selection, patches);
    progress.noteWhyNotPatched(patchReason);
    return outcome;
  }
  const { onPlan, onEntry } = progress;
  const result = await syncBuild(fetcher, build, selection, { patches, onPlan, onEntry }).catch((error: unknown) => {
    throw progress.hasData ? interrupted(error, fetcher.store.ledger, build.identity) : error;
  });
  const { wanted, held, missing, patched, failures, patchReason } = result;
  progress.noteWhyNotPatched(patchReason);
  if (missing.entries > 0 || failures.length > 0) throw incomplete({ wanted, held, missing }, failures);
  return { wanted, held, fetched: fetchedSoFar(fetcher), missing, ...(patched && { patched }) };
}
