import { availableParallelism } from 'node:os';
import type { ResolvedBuild } from '../../builds/resolve/resolve-build.ts';
import { noting, type WorkOptions } from '../../core/progress.ts';
import { tagsWithoutFiles } from '../../fetch/plan/selection.ts';
import type { OpenedBuild } from '../../keep/build-opener.ts';
import { prepareMarks } from '../../keep/gc/mark-build.ts';
import { isHeldWhole } from '../../store/ledger/rows.ts';
import { runSync, SyncProgress } from '../../sync/run-sync.ts';
import { resumable } from '../../sync/sync-errors.ts';
import type { SyncReport } from '../../sync/sync-report.ts';
import type { Session } from './session.ts';
import { tellNames } from './tell-names.ts';

/** The part of a build that is wanted, and the limits of fetching it. */
export interface SyncOptions extends WorkOptions {
  /** Tags of the download and install manifests: OR inside a type of tag, AND across types. */
  tags?: readonly string[] | undefined;
  /** Globs on names. */
  include?: readonly string[] | undefined;
  /** Every object that the CDN has for the build, as it has it. */
  all?: boolean | undefined;
  /** Make changed files out of older ones that are held, with the CDN's patches, where that fetches less. */
  patch?: boolean | undefined;
  /** The CDN config of a build that no version table names, where pakrat finds another or none. */
  cdnConfig?: string | undefined;
  /** Only plan: no data is fetched. */
  dryRun?: boolean | undefined;
  /** Ranges in flight at a time. Default: the setting `sync.jobs`. */
  jobs?: number | undefined;
  /** Bytes a second at most. */
  limitRate?: number | undefined;
}

const mostThreads = 4;

/** True for a build that was held whole when it was synced last: most likely there is nothing to fetch. */
async function wasWhole(session: Session, { product, buildConfig }: ResolvedBuild): Promise<boolean> {
  const { ledger } = await session.store({ create: !session.options.offline });
  const row = ledger.builds(product).find((build) => build.buildConfig === buildConfig);
  return row !== undefined && isHeldWhole(row);
}

/**
 * Brings a build that was found, or the part of it that is chosen, into the store, or plans that.
 * @param started of the clock of `performance.now`, when the work on it began
 * @throws as `sync`
 */
export async function syncFound(
  session: Session,
  identity: ResolvedBuild,
  options: SyncOptions,
  started: number,
): Promise<SyncReport> {
  const { signal, jobs, dryRun = false, limitRate: bytesPerSecond } = options;
  const { threads = Math.min(availableParallelism(), mostThreads) } = session.options;
  const { onProgress = () => {} } = options;
  const network = await session.openNetwork(identity, {
    signal,
    jobs,
    bytesPerSecond,
    threads: dryRun ? 0 : threads,
    isIdle: await wasWhole(session, identity),
    onProgress,
  });
  const progress = new SyncProgress(network, onProgress);
  let opened: OpenedBuild | undefined;
  try {
    progress.onStep('configs');
    const onNote = noting(onProgress);
    const { onStep } = progress;
    const { tags = [], include = [], all = false } = options;
    const open = { jobs, wantsDownload: true, mayLackEncoding: all, onStep, onNote };
    opened = await session.openBuild(identity, network, open);
    const { patchGapBytes: gapBytes, patchMaxBytes: maxBytes } = session.options.settings.sync;
    const patches = options.patch === true ? { gapBytes, maxBytes } : undefined;
    const outcome = await runSync(opened, { selection: { tags, include, all }, patches, dryRun }, progress);
    for (const tag of await tagsWithoutFiles(opened.build, tags)) {
      onNote(
        `no file has the tag ${tag}: it brings nothing of its own, and files without a tag of its kind are wanted all the same`,
      );
    }
    if (!dryRun) await prepareMarks(opened.fetcher.store, opened.build, signal);
    const { product, name: build, buildConfig, cdnConfig } = opened.build.identity;
    const seconds = Math.round(performance.now() - started) / 1000;
    return { product, build: { name: build, buildConfig, cdnConfig }, ...outcome, seconds };
  } catch (error) {
    throw network?.hosts.anyProven === true ? resumable(error) : error;
  } finally {
    progress.end();
    // Transfers end before what they brought is committed.
    await network?.close();
    if (opened !== undefined) tellNames(opened.build, onProgress);
    await opened?.close();
  }
}
