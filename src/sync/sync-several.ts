import type { ResolvedBuild } from '../builds/resolve/resolve-build.ts';
import { isOurTrouble, isPakratError } from '../core/errors.ts';
import type { OnProgress } from '../core/progress.ts';
import { keyOf } from '../store/ledger/rows.ts';
import type { SyncReport } from './sync-report.ts';

/** A build, or a product, that could not be synced. */
export interface SyncFailure {
  /** `PRODUCT@BUILD`, or the name that was given where no build was found. */
  name: string;
  code: string;
  message: string;
}

/** The work on several builds, as `sync --json` prints it. */
export interface SyncedBuilds {
  /** In the order in which they were synced. */
  builds: SyncReport[];
  failed: SyncFailure[];
}

/** The work on one build or product, which the caller knows. */
interface SyncSteps {
  /** The builds that a name means. */
  find: (name: string) => Promise<readonly ResolvedBuild[]>;
  sync: (build: ResolvedBuild) => Promise<SyncReport>;
}

/**
 * Syncs builds one after the other, each once: what an earlier one brought is held when the next is planned, so that nothing is fetched twice.
 * One that fails does not stop the others.
 * @throws what no build is to blame for: E_ABORTED, E_STORE…
 */
export async function syncSeveral(
  names: readonly string[],
  { find, sync }: SyncSteps,
  onProgress: OnProgress,
): Promise<SyncedBuilds> {
  const failed: SyncFailure[] = [];
  /** @throws where the work as a whole cannot go on */
  const attempt = async <Value>(name: string, work: Promise<Value>): Promise<Value | undefined> =>
    work.catch((error: unknown) => {
      if (isOurTrouble(error) || !isPakratError(error)) throw error;
      failed.push({ name, code: error.code, message: error.message });
      return undefined;
    });
  const found = new Map<string, ResolvedBuild>();
  for (const name of new Set(names)) {
    for (const build of (await attempt(name, find(name))) ?? []) found.set(keyOf(build), build);
  }
  const builds: SyncReport[] = [];
  let number = 0;
  for (const build of found.values()) {
    const name = `${build.product}@${build.name}`;
    number += 1;
    onProgress({ type: 'build', name, number, of: found.size });
    const report = await attempt(name, sync(build));
    if (report !== undefined) builds.push(report);
  }
  return { builds, failed };
}
