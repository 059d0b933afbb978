import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { codeOf, type ErrorCode, type ErrorData, messageOf, PakratError } from '../core/errors.ts';
import type { LocalPlace } from './open-local.ts';
import type { PakSource } from './pak-source.ts';
import { type PakJob, type PakTask, type PakTaskResult, pakTaskRunner } from './pak-tasks.ts';

/** How tasks are run. */
export interface PoolOptions {
  /** Default: as many as the machine has cores, 8 at most, and none for small work. */
  threads?: number | undefined;
  signal?: AbortSignal | undefined;
  onResult?: (result: PakTaskResult) => void;
}

/** What a thread is started with. `stop` is a number that is no longer 0 when all must end. */
export interface PakWorkerData {
  place: LocalPlace;
  job: PakJob;
  stop: Int32Array;
}
/** What a thread answers to a batch of tasks. */
export type PakWorkerAnswer =
  | { results: PakTaskResult[] }
  | { error: { code: string | undefined; message: string; hint: string | undefined; data: ErrorData } };

const maxThreads = 8;
/** To start a thread takes as long as this many bytes or files take. */
const smallBytes = 24 << 20;
const smallFiles = 600;
/** Tasks travel together up to these limits. */
const batchBytes = 4 << 20;
const batchTasks = 64;
/** A thread has its next batch before it has done the one before. */
const batchesAhead = 2;

/**
 * Does a job with many entries of a PAK: in threads that each open it for themselves when that is worth it, else here.
 * A task that fails has its problem in its result.
 * @throws E_ABORTED, E_STORE_FULL and what is a bug; nothing half-written is left
 */
export async function runPakTasks(
  source: PakSource,
  job: PakJob,
  tasks: readonly PakTask[],
  options: PoolOptions = {},
): Promise<void> {
  options.signal?.throwIfAborted();
  const threads = Math.min(options.threads ?? threadsFor(tasks), tasks.length);
  if (source.place === undefined || threads < 2) await runHere(source, job, tasks, options);
  else await runInThreads(source.place, job, { tasks, threads, options });
}

function threadsFor(tasks: readonly PakTask[]): number {
  const bytes = tasks.reduce((sum, { size }) => sum + size, 0);
  const isSmall = bytes < smallBytes && tasks.length < smallFiles;
  return isSmall ? 0 : Math.min(availableParallelism(), maxThreads);
}

async function runHere(
  source: PakSource,
  job: PakJob,
  tasks: readonly PakTask[],
  { signal, onResult }: PoolOptions,
): Promise<void> {
  const run = pakTaskRunner(source.pak, job, () => signal?.throwIfAborted());
  for (const task of tasks) {
    const result = await run(task);
    onResult?.(result);
    // A signal is heard only when this thread waits for something.
    if (signal !== undefined) await new Promise(setImmediate);
  }
}

interface ThreadWork {
  tasks: readonly PakTask[];
  threads: number;
  options: PoolOptions;
}

async function runInThreads(place: LocalPlace, job: PakJob, { tasks, threads, options }: ThreadWork): Promise<void> {
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const batches = batchesOf(tasks);
  const halt = (): void => void Atomics.store(stop, 0, 1);
  options.signal?.addEventListener('abort', halt, { once: true });
  try {
    const runs = Array.from({ length: threads }, () => runThread({ place, job, stop }, batches, options.onResult));
    const ends = await Promise.allSettled(runs.map((run) => run.catch(stopAfter(halt))));
    options.signal?.throwIfAborted();
    const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
    // The others were interrupted because of the first.
    if (failures.length > 0) throw failures.find((error) => codeOf(error) !== 'E_ABORTED') ?? failures[0];
  } finally {
    options.signal?.removeEventListener('abort', halt);
  }
}

/** One thread that cannot go on ends them all. */
function stopAfter(halt: () => void): (error: unknown) => never {
  return (error) => {
    halt();
    throw error;
  };
}

/** The largest entries first, so that none is still under way when all else is done; the others as they lie in the file. */
function batchesOf(tasks: readonly PakTask[]): Iterator<PakTask[]> {
  const large = tasks.filter(({ size }) => size >= batchBytes).sort((a, b) => b.size - a.size);
  const small = tasks.filter(({ size }) => size < batchBytes);
  return batch([...large, ...small]);
}

function* batch(tasks: readonly PakTask[]): Generator<PakTask[]> {
  let waiting: PakTask[] = [];
  let bytes = 0;
  for (const task of tasks) {
    if (waiting.length > 0 && (bytes + task.size > batchBytes || waiting.length === batchTasks)) {
      yield waiting;
      waiting = [];
      bytes = 0;
    }
    waiting.push(task);
    bytes += task.size;
  }
  if (waiting.length > 0) yield waiting;
}

/** Runs a thread until there are no more batches. */
function runThread(
  workerData: PakWorkerData,
  batches: Iterator<PakTask[]>,
  onResult: PoolOptions['onResult'],
): Promise<void> {
  const thread = new Worker(new URL('./pak-worker.js', import.meta.url), {
    workerData,
    // Pieces of files die young: a small young generation gives their memory back soon.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });
  let waiting = 0;
  const send = (): void => {
    const { value } = batches.next() as IteratorResult<PakTask[], undefined>;
    if (value !== undefined) {
      waiting += 1;
      thread.postMessage(value);
    } else if (waiting === 0) {
      thread.postMessage(undefined);
    }
  };
  return new Promise((resolve, reject) => {
    let failure: unknown;
    thread.on('message', (answer: PakWorkerAnswer) => {
      if ('error' in answer) {
        const { code, message, hint, data } = answer.error;
        failure = code === undefined ? new Error(message) : new PakratError(code as ErrorCode, message, { hint, data });
        return;
      }
      waiting -= 1;
      for (const result of answer.results) onResult?.(result);
      send();
    });
    thread.on('error', (error) => {
      failure ??= new Error(`a thread died: ${messageOf(error)}`, { cause: error });
    });
    thread.on('exit', () => (failure === undefined ? resolve() : reject(failure)));
    for (let i = 0; i < batchesAhead; i++) send();
  });
}
