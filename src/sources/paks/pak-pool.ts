import type { PakOptions } from '../../paks/index.ts';
import type { SharedDirectory } from '../../paks/many-entries.ts';
import { type BatchLimits, batchesOf, usualLimits } from '../../threads/batches.ts';
import { type PoolHooks, ThreadPool } from '../../threads/thread-pool.ts';
import type { PakJob, PakTask, PakTaskResult } from './pak-tasks.ts';

/** To check a tiny entry takes a few microseconds, and to send a batch takes hundreds. */
const checkLimits: BatchLimits = { ...usualLimits, tasks: 2048 };

/** The PAK that a thread opens for itself. */
export interface PakPath {
  path: string;
  options: PakOptions;
}

/** A PAK for threads to open. */
export interface ThreadedPak extends PakPath {
  /** The folder that has `pak-worker.js`, as the URL of a file in it; default: that of this module. */
  workerUrl?: URL | undefined;
}

/** A job, and the directory of the PAK where it need not be read again. */
export interface PakOrder {
  job: PakJob;
  directory: SharedDirectory | undefined;
}

/** The results of a batch, in the order of its tasks: thousands of tasks end well, and bytes are all that there is to say of them. */
export interface PakBatchDone {
  bytes: number[];
  /** Position in the batch, with what is more to say. */
  odd: [position: number, result: PakTaskResult][];
}

/** The hooks of a job with entries of a PAK. */
export type PakPoolHooks = PoolHooks<PakTask, PakTaskResult>;

/** Threads that each have the same PAK open for themselves. Good for one job; needs `end`. */
export class PakPool {
  readonly #pool: ThreadPool<PakPath, PakOrder, PakTask, PakBatchDone, PakTaskResult>;

  /** Starts the threads; they make themselves ready at once, while the caller does something else. */
  constructor({ path, options, workerUrl }: ThreadedPak, threads: number) {
    const url = new URL('./pak-worker.js', workerUrl ?? import.meta.url);
    // A check leaves nothing behind; an extraction ends by itself between two pieces.
    const mayKill = ({ job }: PakOrder): boolean => job.kind === 'verify';
    this.#pool = new ThreadPool({ url, setup: { path, options }, unpack: resultsOf, mayKill }, threads);
  }

  /** Does a job with some entries. @throws E_ABORTED, what ends a job (E_STORE_FULL), and what is a bug */
  run(order: PakOrder, tasks: Iterable<PakTask>, hooks: PakPoolHooks): Promise<void> {
    const batches =
      order.job.kind === 'verify' ? batchesOf(tasks, checkLimits) : plainBatches(batchesOf(tasks, usualLimits));
    return this.#pool.run(order, batches, hooks);
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

/** Tasks as they travel: the path of one may be made only now. */
function* plainBatches(batches: Iterable<PakTask[]>): Generator<PakTask[]> {
  for (const batch of batches)
    yield batch.map(({ index, size, path, part }) =>
      part === undefined ? { index, size, path } : { index, size, path, part },
    );
}

function resultsOf({ bytes, odd }: PakBatchDone): PakTaskResult[] {
  const results: PakTaskResult[] = bytes.map((count) => ({ bytes: count }));
  for (const [position, result] of odd) results[position] = result;
  return results;
}
