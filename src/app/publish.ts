import { availableParallelism } from 'node:os';
import { type PublishFolderOptions, type PublishReport, publishFolder } from '../publish/publish-folder.ts';

export type { PublishReport } from '../publish/publish-folder.ts';

/** A product, a folder for its CDN, and how a build is made for it. */
export interface PublishOptions extends Omit<PublishFolderOptions, keyof SessionThreads> {
  /** Threads that encode. Default: one for each core. */
  jobs?: number | undefined;
}

/** Threads as the session that publishes has them. */
type SessionThreads = Pick<PublishFolderOptions, 'threads' | 'workerUrl'>;

/**
 * Makes a build of a folder that any client of TACT reads, beside those that are there; a reader has the old build until the new one is whole.
 * @throws E_USAGE for a folder, name or spec that cannot be published so, E_NOT_FOUND, E_FORMAT… for a list or a live build that is damaged,
 *   E_INTEGRITY for a file that changed meanwhile, E_STORE_LOCKED, E_STORE_FULL, E_STORE, E_ABORTED
 */
export async function publish(
  folder: string,
  { jobs, ...work }: PublishOptions,
  { threads = availableParallelism(), workerUrl }: SessionThreads = {},
): Promise<PublishReport> {
  return publishFolder(folder, { ...work, threads: jobs ?? threads, workerUrl });
}
