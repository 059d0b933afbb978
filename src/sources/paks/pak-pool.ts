import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { codeOf, type ErrorCode, type ErrorData, messageOf, PakratError, throwIfAborted } from '../../core/errors.ts';
import type { PakOptions } from '../../paks/index.ts';
import type { PakJob, PakTask, PakTaskResult } from './pak-tasks.ts';

interface PakPath {
  path: string;
  options: PakOptions;
}

/** A PAK for threads to open. */
export interface ThreadedPak extends PakPath {
  /** The folder that has `pak-worker.js`, as the URL of a file in it; default: that of this module. */
  workerUrl?: URL | undefined;
}

/** The PAK that a thread opens for itself. `stop` is a number that is no longer 0 when all must end. */
export interface PakWorkerData {
  from: PakPath;
  stop: Int32Array;
}
/** An order to a thread: the job, entries to do it with, or that there are no more. */
export type PakWorkerOrder = { job: PakJob } | { tasks: PakTask[] } | { end: true };
/** The results of a batch, in the order of its tasks: thousands of tasks end well, and bytes are all that there is to say of them. */
export interface BatchDone {
  bytes: number[];
  /** Position in the batch, with what is more to say. */
  odd: [position: number, result: PakTaskResult][];
}
/** A thread's answer to a batch of tasks. */
export type PakWorkerAnswer =
  | { done: BatchDone }
  | { error: { code: string | undefined; message: string; hint: string | undefined; data: ErrorData } };

/** The signal that interrupts a job, and the listener to its results. */
export interface PoolHooks {
  signal?: AbortSignal | undefined;
  onResult?: ((task: PakTask, result: PakTaskResult) => void) | undefined;
}

const maxThreads = 8;
/** Tasks travel together up to these limits. */
const batchBytes = 4 << 20;
const batchTasks = 256;
/** A thread has its next batch before it has done the one before. */
const batchesInFlight = 2;

/** Threads that are worth it on this machine. */
export function usefulThreads(): number {
  return Math.min(availableParallelism(), maxThreads);
}

/** Threads that each have the same PAK open for themselves. Good for one job; needs `end`. */
export class PakPool {
  readonly #stop = new Int32Array(new SharedArrayBuffer(4));
  readonly #threads: PoolThread[];

  /** Starts the threads; they open the PAK at once, while the caller does something else. */
  constructor({ path, options, workerUrl }: ThreadedPak, threads: number) {
    const url = new URL('./pak-worker.js', workerUrl ?? import.meta.url);
    const data: PakWorkerData = { from: { path, options }, stop: this.#stop };
    this.#threads = Array.from({ length: threads }, () => startThread(url, data));
  }

  /**
   * Does a job with some entries.
   * @throws E_ABORTED, what ends a job (E_STORE_FULL), and what is a bug
   */
  async run(job: PakJob, tasks: readonly PakTask[], { signal, onResult }: PoolHooks): Promise<void> {
    const halt = (): void => {
      Atomics.store(this.#stop, 0, 1);
      // A check leaves nothing behind; an extraction ends by itself between two pieces.
      if (job.kind === 'verify') for (const thread of this.#threads) thread.kill();
    };
    signal?.addEventListener('abort', halt, { once: true });
    try {
      const batches = batchesOf(tasks);
      const runs = this.#threads.map((thread) => {
        // One thread that cannot go on ends them all.
        return thread.run(job, batches, onResult).catch((error: unknown) => {
          halt();
          return { error };
        });
      });
      const failures = (await Promise.all(runs)).flatMap((end) => end ?? []);
      throwIfAborted(signal);
      // The others were interrupted because of the first.
      const failure = failures.find(({ error }) => codeOf(error) !== 'E_ABORTED') ?? failures[0];
      if (failure !== undefined) throw failure.error;
    } finally {
      signal?.removeEventListener('abort', halt);
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }
}

/** The largest entries first, so that none is still under way when all else is done; the others as they lie in the file. */
function* batchesOf(tasks: readonly PakTask[]): Generator<PakTask[]> {
  const large = tasks.filter(({ size }) => size >= batchBytes).sort((a, b) => b.size - a.size);
  for (const task of large) yield [task];
  let waiting: PakTask[] = [];
  let bytes = 0;
  for (const task of tasks) {
    if (task.size >= batchBytes) continue;
    if (bytes + task.size > batchBytes || waiting.length === batchTasks) {
      yield waiting;
      waiting = [];
      bytes = 0;
    }
    waiting.push(task);
    bytes += task.size;
  }
  if (waiting.length > 0) yield waiting;
}

interface PoolThread {
  run(job: PakJob, batches: Iterator<PakTask[]>, onResult: PoolHooks['onResult']): Promise<void>;
  end(): Promise<void>;
  kill(): void;
}

function startThread(url: URL, workerData: PakWorkerData): PoolThread {
  const thread = new Worker(url, {
    workerData,
    // Pieces of files die young: a small young generation gives their memory back soon.
    resourceLimits: { maxYoungGenerationSizeMb: 2 },
  });
  let failure: unknown;
  /** Batches that it was given and did not answer yet: it answers in their order. */
  const waiting: PakTask[][] = [];
  let onAnswer: (tasks: PakTask[], done: BatchDone) => void = () => {};
  thread.on('error', (error) => {
    failure ??= new Error(`a thread died: ${messageOf(error)}`, { cause: error });
  });
  thread.on('message', (answer: PakWorkerAnswer) => {
    if ('done' in answer) onAnswer(waiting.shift() ?? [], answer.done);
    else failure ??= errorOf(answer.error);
  });
  const exited = new Promise<void>((resolve) => thread.on('exit', () => resolve()));
  const order = (message: PakWorkerOrder): void => thread.postMessage(message);
  return {
    run(job, batches, onResult) {
      const next = (): void => {
        const { value, done } = batches.next();
        if (done !== true) {
          waiting.push(value);
          order({ tasks: value });
        } else if (waiting.length === 0) order({ end: true });
      };
      onAnswer = (tasks, done) => {
        next();
        const odd = new Map(done.odd);
        tasks.forEach((task, i) => {
          onResult?.(task, odd.get(i) ?? { bytes: done.bytes[i] ?? 0 });
        });
      };
      order({ job });
      for (let i = 0; i < batchesInFlight; i++) next();
      return exited.then(() => {
        if (failure !== undefined) throw failure;
      });
    },
    async end() {
      order({ end: true });
      await exited;
    },
    kill: () => void thread.terminate(),
  };
}

function errorOf({ code, message, hint, data }: Extract<PakWorkerAnswer, { error: unknown }>['error']): unknown {
  return code === undefined ? new Error(message) : new PakratError(code as ErrorCode, message, { hint, data });
}
