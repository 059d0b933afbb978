import { eitherSignal } from '../../core/breathe.ts';
import { batchesInOrder, batchesOf } from '../../threads/batches.ts';
import { type Batches, ThreadPool, threadUrl, usefulThreads } from '../../threads/thread-pool.ts';
import type { EntryBatch, Proof } from '../../verify/entry-columns.ts';
import type { EntriesTask, ProofTask } from './proof-tasks.ts';

/** The threads that may be used. */
export interface ProofThreads {
  /** Default: one for each core, 4 at most, and none for little work. */
  threads?: number | undefined;
  workerUrl?: string | URL | undefined;
}

/** Each more reads elsewhere on the same disk. */
const mostThreads = 4;
/** To start threads takes as long as this many bytes. */
const smallBytes = 128 << 20;
/** Objects that travel together: small ones are hashed beside each other. */
const batchLimits = { bytes: 8 << 20, tasks: 256 };

/**
 * Hashes objects in threads, and gives those that are as they should be, in the order in which they turn out so; none where threads do not pay.
 * To stop asking ends them.
 * @param options.started threads that were started for this
 * @throws E_ABORTED
 */
export async function* proveObjects(
  tasks: readonly ProofTask[],
  { signal, started, ...use }: ProofThreads & { signal?: AbortSignal | undefined; started?: ProofPool | undefined },
): AsyncGenerator<Proof & { path: string }> {
  const bytes = tasks.reduce((sum, { size }) => sum + size, 0);
  const pool = started ?? startProofs({ bytes, objects: tasks.length }, use);
  if (pool === undefined) return;
  for await (const { task, proof } of proveBatches(pool, batchesOf(tasks, batchLimits), signal))
    if (proof !== undefined) yield { path: task.path, ...proof };
}

/**
 * Hashes objects in threads, and gives the outcome of each as it comes: no proof where anything is not as it should be. To stop asking ends the threads.
 * @throws E_ABORTED, what planning a batch throws
 */
export async function* proveBatches<Task extends ProofTask | EntriesTask>(
  pool: ProofPool,
  batches: Batches<Task>,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ task: Task; proof: Proof | undefined }> {
  const left = new AbortController();
  const outcomes: { task: Task; proof: Proof | undefined }[] = [];
  let isDone = false;
  let wake = (): void => {};
  const run = pool.run(undefined, batches, {
    signal: eitherSignal(left.signal, signal),
    onResult(task, proof) {
      outcomes.push({ task: task as Task, proof });
      wake();
    },
  });
  const ended = run
    .catch(() => {})
    .then(() => {
      isDone = true;
      wake();
    });
  try {
    // Threads may be through before whoever asks has taken all that they said.
    while (!isDone || outcomes.length > 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (isDone || outcomes.length > 0) resolve();
      });
      yield* outcomes.splice(0);
    }
    await run;
  } finally {
    left.abort();
    await ended;
    await pool.end();
  }
}

/** Proves batches of entries in threads: each comes back as it turns out. To stop asking ends the threads. @throws E_ABORTED, what making a batch throws */
export async function* proveEntries<Batch extends EntryBatch>(
  pool: ProofPool,
  batches: Iterable<Batch>,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ batch: Batch; proof: Proof | undefined }> {
  const sent = new Map<number, Batch>();
  const tasks = function* (): Generator<EntriesTask> {
    let number = 0;
    for (const batch of batches) {
      number += 1;
      sent.set(number, batch);
      // What else its owner has in it may not travel.
      const { size } = batch;
      yield 'columns' in batch ? { number, columns: batch.columns, size } : { number, listed: batch.listed, size };
    }
  };
  for await (const { task, proof } of proveBatches(pool, batchesInOrder(tasks(), batchLimits), signal)) {
    const batch = sent.get(task.number)!;
    sent.delete(task.number);
    yield { batch, proof };
  }
}

/** Threads that prove objects. They need `end`, or `kill`. */
export type ProofPool = ThreadPool<
  undefined,
  undefined,
  ProofTask | EntriesTask,
  (Proof | undefined)[],
  Proof | undefined
>;

/** Starts threads for so much, where they pay: they make themselves ready while it is planned what they are to do. */
export function startProofs(
  { bytes, objects }: { bytes: number; objects: number },
  { threads: asked, workerUrl }: ProofThreads,
): ProofPool | undefined {
  const useful = usefulThreads(asked ?? (bytes < smallBytes ? 0 : undefined));
  const threads = Math.min(useful, asked ?? mostThreads, objects);
  // One proves more together than this thread does, which has other work: that pays on one core, too.
  const url = threads < 1 ? undefined : threadUrl('proof-worker', workerUrl ?? import.meta.url);
  if (url === undefined) return undefined;
  // It leaves nothing behind.
  const mayKill = (): boolean => true;
  return new ThreadPool({ url, setup: undefined, unpack: (proofs) => proofs, mayKill, youngMiB: 16 }, threads);
}
