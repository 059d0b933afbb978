import { codeOf, isUnavailable, PakratError, valueUnless } from '../core/errors.ts';
import { noting, type WorkOptions } from '../core/progress.ts';
import { cell, decodeBpsv } from '../formats/services/bpsv.ts';
import { importFolder as importInto } from '../keep/import/import-folder.ts';
import type { ImportReport } from '../keep/import/import-report.ts';
import { isSafeCdnPath, type ObjectName } from '../store/layout.ts';
import type { BuildIdentity } from '../store/ledger/rows.ts';
import type { Store } from '../store/store.ts';
import { buildOpener } from './session/build-opener.ts';
import type { Session } from './session/session.ts';

export type { ImportAmount, ImportReport } from '../keep/import/import-report.ts';

/** The way a folder is taken into a store, and what it does not tell by itself. */
export interface ImportOptions extends WorkOptions {
  /** Hard-link whole objects that are wholly right, rather than copy them: whoever writes to the file changes both. */
  link?: boolean | undefined;
  /** Check all, and take nothing. */
  dryRun?: boolean | undefined;
  /** The product of builds that do not tell theirs. */
  product?: string | undefined;
  /** The CDN path of objects whose folder does not tell theirs, such as `tpr/wow`. */
  cdnPath?: string | undefined;
}

/**
 * Takes a folder in the layout of a CDN, an older mirror, another store or an installed game into the store. Everything is checked first; what is
 * damaged is told, and not taken. Safe to end at any moment: the next run goes on.
 * @throws E_NOT_FOUND when there is nothing to take, E_USAGE when nothing tells where it belongs, E_ABORTED, E_STORE…
 */
export async function importFolder(
  session: Session,
  folder: string,
  options: ImportOptions = {},
): Promise<ImportReport> {
  const { link = false, dryRun = false, product, signal, onProgress } = options;
  const store = await session.store({ create: true });
  if (!store.writable && !dryRun) {
    throw new PakratError('E_STORE', `no permission to write ${store.layout.root}`, {
      hint: 'Name another --store, or only look with --dry-run.',
    });
  }
  const cdnPath = await cdnPathOf(session, store, options);
  const note = noting(onProgress);
  onProgress?.({ type: 'step', step: 'files of the folder', bytes: 0 });
  return importInto(store, folder, {
    link,
    dryRun,
    product,
    cdnPath,
    region: session.options.region,
    use: { threads: session.options.threads, workerUrl: session.options.workerUrl },
    signal,
    onProgress: (done, total) => onProgress?.({ type: 'bytes', phase: 'import', done, total }),
    onWait: () => note('another process is fetching what is to be taken; waiting for it'),
    onNote: note,
    opener: buildOpener(session, { signal, onProgress: (event) => event.type === 'step' && onProgress?.(event) }),
    bring: session.options.offline ? undefined : (build, indices) => bring(session, { build, indices }, options),
  });
}

/** The CDN path that was said, or that of the product that was said. */
async function cdnPathOf(
  session: Session,
  { ledger }: Store,
  { product, cdnPath, ...work }: ImportOptions,
): Promise<string | undefined> {
  if (cdnPath !== undefined) {
    const path = cdnPath.replace(/^\/+|\/+$/g, '');
    if (isSafeCdnPath(path)) return path;
    throw new PakratError('E_USAGE', `${JSON.stringify(cdnPath)} is no CDN path`, { hint: 'One looks like tpr/wow.' });
  }
  if (product === undefined) return undefined;
  const [answer] = ledger.answers(product, 'cdns');
  const told = answer && decodeBpsv(answer.body).rows.map((row) => cell(row, 'Path'))[0];
  const known = ledger.builds(product)[0]?.cdnPath ?? told;
  if (known !== undefined || session.options.offline) return known;
  return (await liveBuild(session, product, work))?.cdnPath;
}

/** Fetches indices of a build: without them nothing tells what is in its archives. What no host has stays away. */
async function bring(
  session: Session,
  { build, indices }: { build: BuildIdentity; indices: readonly ObjectName[] },
  work: WorkOptions,
): Promise<void> {
  const hosts = build.hosts.length > 0 ? build.hosts : ((await liveBuild(session, build.product, work))?.hosts ?? []);
  work.onProgress?.({ type: 'step', step: 'indices', bytes: 0 });
  const { fetcher, close } = await session.connect({ ...build, hosts }, work);
  try {
    await fetcher.bringObjects(indices);
  } finally {
    await close();
  }
}

/** The live build of a product, as far as a version service tells. */
async function liveBuild(session: Session, product: string, work: WorkOptions): Promise<BuildIdentity | undefined> {
  const isExpected = (error: unknown): boolean =>
    isUnavailable(error) || codeOf(error)?.startsWith('E_NETWORK') === true;
  return valueUnless(isExpected, session.resolve(product, { ...work, fresh: false }));
}
