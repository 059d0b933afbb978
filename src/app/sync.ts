import { parseBuildSpec } from '../builds/resolve/build-spec.ts';
import type { ResolvedBuild } from '../builds/resolve/resolve-build.ts';
import { PakratError } from '../core/errors.ts';
import { keepReserve } from '../store/reserve.ts';
import { settleStore } from '../store/settle-store.ts';
import type { SyncReport } from '../sync/sync-report.ts';
import { type SyncedBuilds, syncSeveral } from '../sync/sync-several.ts';
import { type BuildCount, demandProducts, findBuilds } from './session/find-builds.ts';
import type { Session } from './session/session.ts';
import { type SyncOptions, syncFound } from './session/sync-found.ts';

export type { SyncReport } from '../sync/sync-report.ts';
export type { SyncedBuilds, SyncFailure } from '../sync/sync-several.ts';
export type { SyncOptions } from './session/sync-found.ts';

/** The builds of each product that are wanted. */
export interface SyncSeveralOptions extends Omit<SyncOptions, 'cdnConfig'> {
  /** The newest so many of each product, or all that are known. Default: those that the names mean. */
  builds?: BuildCount | undefined;
}

/**
 * Brings a build, or the part of it that is chosen, into the store. Safe to end at any moment: the next run goes on.
 * @param name `PRODUCT` or `PRODUCT@BUILD`
 * @throws E_INCOMPLETE when some entries or manifests were given right by no host, E_USAGE offline, E_NOT_FOUND, E_ABORTED, E_STORE…
 */
export async function sync(session: Session, name: string, options: SyncOptions = {}): Promise<SyncReport> {
  const started = performance.now();
  return inWritableStore(session, options, async () =>
    syncFound(session, await find(session, name, options), options, started),
  );
}

/**
 * Brings several builds into the store, one after the other. One that fails does not stop the others.
 * @param names each `PRODUCT` or `PRODUCT@BUILD`; products alone where builds of them are counted
 * @throws E_USAGE offline, for a name that is none, and for one build where builds are counted; E_ABORTED, E_STORE…
 */
export async function syncBuilds(
  session: Session,
  names: readonly string[],
  options: SyncSeveralOptions = {},
): Promise<SyncedBuilds> {
  const { builds, signal, onProgress = () => {} } = options;
  names.forEach(parseBuildSpec);
  if (builds !== undefined) demandProducts(names, builds);
  const steps = {
    find: async (name: string) =>
      builds === undefined
        ? [await find(session, name, options)]
        : findBuilds(session, name, builds, { signal, onProgress }),
    sync: (build: ResolvedBuild) => syncFound(session, build, options, performance.now()),
  };
  return inWritableStore(session, options, () => syncSeveral(names, steps, onProgress));
}

async function inWritableStore<Result>(
  session: Session,
  options: SyncOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const { dryRun = false } = options;
  if (session.options.offline && !dryRun) {
    throw new PakratError('E_USAGE', 'sync fetches, and --offline forbids that', {
      hint: 'Leave --offline away, or add --dry-run.',
    });
  }
  const store = await session.store({ create: !session.options.offline });
  if (!dryRun) {
    keepReserve(store.layout);
    await settleStore(store, options.signal);
  }
  return work();
}

function find(session: Session, name: string, options: SyncOptions): Promise<ResolvedBuild> {
  const { signal, cdnConfig, onProgress } = options;
  return session.resolve(name, { signal, onProgress, fresh: true, cdnConfig });
}
