import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { codeOf, type ErrorCode, type ErrorData, messageOf, PakratError, throwIfAborted } from '../core/errors.ts';
import { fittingJobs } from '../files/open-files.ts';
import { Ending } from './ending.ts';

/** What a thread is given when it starts: its own data, and a number that is no longer 0 when all must end. */
export interface ThreadData<Setup> {
  setup: Setup;
  stop: Int32Array;
}
/** An order to a thread: the job, tasks to do it with, something that it is told meanwhile, or that there is no more. */
export type ThreadOrder<Job, Task> = { job: Job } | { tasks: Task[] } | { told: unknown } | { end: true };
/** A thread's answer to a batch of tasks: what it packed their results into, or what ends the job. */
export type ThreadAnswer<Packed> = { done: Packed } | { error: ToldError };
/** What ends a job, as a thread tells it: an error of ours, one of the system, or a bug, which has no code. */
export interface ToldError {
  code: string | undefined;
  message: string;
  hint: string | undefined;
  data: ErrorData;
  system?: { syscall: string | undefined; path: string | undefined };
}

/** Batches of tasks, one after the other; to plan the next may take a while, and is done while threads work. */
export type Batches<Task> = AsyncIterator<Task[]> | Iterator<Task[]>;

/** The signal that interrupts a job, and the listener to its results. */
export interface PoolHooks<Task, Result> {
  signal?: AbortSignal | undefined;
  onResult?: ((task: Task, result: Result) => void) | undefined;
}

/** The program of a thread, and what it is to make of its answers. */
export interface ThreadProgram<Setup, Job, Packed, Result> {
  /** Where the program lies. */
  url: URL;
  setup: Setup;
  /** Gives the results of a batch, in the order of its tasks. */
  unpack: (packed: Packed) => Result[];
  /** Whether an interruption may end threads where they stand, for this job leaves nothing behind. Default: never. */
  mayKill?: ((job: Job) => boolean) | undefined;
  /** Room for what dies young, in MiB: a small one gives the memory of pieces of files back soon, a larger one is collected less often. Default: 2. */
  youngMiB?: number | undefined;
}

const maxThreads = 8;
/** Files that a thread has open at once, while it loads its program. */
const filesToLoad = 48;
/** A thread has its next batch before it has done the one before. */
const batchesInFlight = 2;

/** Threads for work: as many as are wanted, else as are worth it on this machine; fewer, or none, where few files may be open. */
export function usefulThreads(wanted = Math.min(availableParallelism(), maxThreads)): number {
  return fittingJobs(wanted, filesToLoad, 0);
}

/**
 * The program of a thread, beside the file that starts it; undefined where it is not there, as where the library is bundled anew.
 * @param beside a file of the folder that has it; undefined is what `import.meta.url` becomes in a bundle of CommonJS
 */
export function threadUrl(name: string, beside: string | URL | undefined): URL | undefined {
  if (beside === undefined) return undefined;
  const url = new URL(`./${name}.js`, beside);
  return url.protocol === 'file:' && existsSync(fileURLToPath(url)) ? url : undefined;
}

/** The threads that a piece of work may use. */
export interface ThreadUse {
  /** Threads of the program, this one among them: below 2 there is no other. Default: as many as there are cores. */
  threads?: number | undefined;
  /** A file of the folder that has their programs, where that is not the folder of this program. */
  workerUrl?: string | URL | undefined;
}

/** The program of one thread beside this one; undefined where there is to be none. @param own the `import.meta.url` of whoever starts it */
export function secondThread(
  name: string,
  { threads, workerUrl }: ThreadUse,
  own: string | undefined,
): URL | undefined {
  return usefulThreads(threads) < 2 ? undefined : threadUrl(name, workerUrl ?? own);
}

/** Threads that run the same program, each for itself. Good for one job; needs `end`. */
export class ThreadPool<Setup, Job, Task, Packed, Result> {
  readonly #stop = new Int32Array(new SharedArrayBuffer(4));
  readonly #threads: PoolThread<Job, Task, Result>[];
  readonly #mayKill: (job: Job) => boolean;
  /** Comes when all is to end early: whoever plans batches waits for no result any more. */
  readonly halted = new Ending();

  /** Starts the threads; they make themselves ready at once, while the caller does something else. */
  constructor(program: ThreadProgram<Setup, Job, Packed, Result>, threads: number) {
    const { setup, mayKill = () => false } = program;
    const data: ThreadData<Setup> = { setup, stop: this.#stop };
    this.#mayKill = mayKill;
    this.#threads = Array.from({ length: threads }, () => startThread<Setup, Job, Task, Packed, Result>(program, data));
  }

  /**
   * Does a job with batches of tasks. Each thread asks for the next batch when it has room for one.
   * @throws E_ABORTED, what ends a job (E_STORE_FULL), what planning a batch throws, and what is a bug
   */
  async run(job: Job, batches: Batches<Task>, { signal, onResult }: PoolHooks<Task, Result>): Promise<void> {
    const halt = (): void => {
      Atomics.store(this.#stop, 0, 1);
      this.halted.come();
      if (this.#mayKill(job)) for (const thread of this.#threads) thread.kill();
    };
    signal?.addEventListener('abort', halt, { once: true });
    try {
      throwIfAborted(signal);
      const next = async (): Promise<Task[] | undefined> =>
        (await this.halted.before(async () => batches.next()))?.value;
      const runs = this.#threads.map((thread) => {
        // One thread that cannot go on ends them all.
        return runOf(thread, job, { next, onResult }).catch((error: unknown) => {
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
      await batches.return?.();
    }
  }

  /** Batches that its threads have room for together. */
  get room(): number {
    return this.#threads.length * batchesInFlight;
  }

  /** Begins a job of which {@link ask} does batches. */
  begin(job: Job): void {
    for (const thread of this.#threads) thread.begin(job);
  }

  /**
   * The results of a batch, done by the thread that has least to do. For whoever wants them in the order of batches; it says itself how many are asked for at once.
   * @throws what ends a job, what is a bug
   */
  async ask(tasks: Task[]): Promise<Result[]> {
    const thread = this.#threads.reduce((a, b) => (b.load < a.load ? b : a));
    const results = await thread.ask(tasks);
    if (results === undefined) throw new Error('a thread ended before it had answered');
    return results;
  }

  /** Tells every thread something, before the batches that it is sent from now on. */
  tell(told: unknown): void {
    for (const thread of this.#threads) thread.tell(told);
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }

  /** Ends threads where they stand: for those that leave nothing behind. */
  async kill(): Promise<void> {
    for (const thread of this.#threads) thread.kill();
    await this.end();
  }
}

interface PoolThread<Job, Task, Result> {
  begin(job: Job): void;
  /** The results of a batch; undefined when the thread ended before. */
  ask(tasks: Task[]): Promise<Result[] | undefined>;
  /** Batches that it was asked for and did not answer yet. */
  readonly load: number;
  tell(told: unknown): void;
  end(): Promise<void>;
  kill(): void;
}

/** The part of a job that a thread does: ends when there is no next batch and all that it was given is answered. */
async function runOf<Job, Task, Result>(
  thread: PoolThread<Job, Task, Result>,
  job: Job,
  { next, onResult }: { next: () => Promise<Task[] | undefined>; onResult: PoolHooks<Task, Result>['onResult'] },
): Promise<void> {
  const once = async (): Promise<void> => {
    for (let tasks = await next(); tasks !== undefined; tasks = await next()) {
      const results = await thread.ask(tasks);
      if (results === undefined) return;
      for (const [i, task] of tasks.entries()) onResult?.(task, results[i]!);
    }
  };
  thread.begin(job);
  await Promise.all(Array.from({ length: batchesInFlight }, once));
}

function startThread<Setup, Job, Task, Packed, Result>(
  { url, unpack, youngMiB = 2 }: ThreadProgram<Setup, Job, Packed, Result>,
  workerData: ThreadData<Setup>,
): PoolThread<Job, Task, Result> {
  const thread = new Worker(url, { workerData, resourceLimits: { maxYoungGenerationSizeMb: youngMiB } });
  let failure: unknown;
  /** Called with the results of batches that it was given and did not answer yet: it answers in their order. */
  const waiting: ((results: Result[]) => void)[] = [];
  thread.on('error', (error) => {
    failure ??= new Error(`a thread died: ${messageOf(error)}`, { cause: error });
  });
  thread.on('message', (answer: ThreadAnswer<Packed>) => {
    if ('done' in answer) waiting.shift()?.(unpack(answer.done));
    else failure ??= errorOf(answer.error);
  });
  const exit = new Ending();
  const exited = new Promise<void>((resolve) => thread.on('exit', () => resolve()));
  exited.then(() => exit.come());
  const order = (message: ThreadOrder<Job, Task>): void => thread.postMessage(message);
  return {
    begin: (job) => order({ job }),
    async ask(tasks) {
      order({ tasks });
      const results = await exit.before(() => new Promise<Result[]>((resolve) => waiting.push(resolve)));
      if (failure !== undefined) throw failure;
      return results;
    },
    get load() {
      return waiting.length;
    },
    tell: (told) => order({ told }),
    async end() {
      order({ end: true });
      await exited;
    },
    kill: () => void thread.terminate(),
  };
}

function errorOf({ code, message, hint, data, system }: ToldError): unknown {
  if (system !== undefined) return Object.assign(new Error(message), { code, ...system });
  return code === undefined ? new Error(message) : new PakratError(code as ErrorCode, message, { hint, data });
}
