/* The other end of the pool: what the program of a thread calls. */
import { parentPort, workerData } from 'node:worker_threads';
import { codeOf, isPakratError, isSystemError, messageOf, PakratError } from '../core/errors.ts';
import type { ThreadAnswer, ThreadData, ThreadOrder, ToldError } from './thread-pool.ts';

/** What a thread can do. */
export interface ThreadWork<Job, Task, Packed> {
  /** Takes the job; what it gives does a batch of tasks. An error ends the whole job. */
  begin(job: Job): Promise<(tasks: Task[]) => Promise<Packed>>;
  /** The memory of an answer that goes with it, and is not copied. */
  memoryOf?(packed: Packed): ArrayBuffer[];
  /** Takes what all threads are told. */
  hear?(told: unknown): void;
  /** Gives back what it holds. */
  close?(): Promise<void>;
}

/** The data that this thread was started with. */
export function threadSetup<Setup>(): Setup {
  return (workerData as ThreadData<Setup>).setup;
}

/** To be called between pieces of work. @throws E_ABORTED when all must end */
export function checkpoint(): void {
  const { stop } = workerData as ThreadData<unknown>;
  if (Atomics.load(stop, 0) !== 0) throw new PakratError('E_ABORTED', 'interrupted');
}

/** An error as the thread that gave the order is told of it. */
function toldOf(error: unknown): ToldError {
  const none = { hint: undefined, data: {} };
  if (isPakratError(error)) return { code: error.code, message: error.message, hint: error.hint, data: error.data };
  if (!isSystemError(error)) return { code: undefined, message: (error as Error).stack ?? messageOf(error), ...none };
  const { syscall, path } = error as NodeJS.ErrnoException;
  return { code: codeOf(error), message: messageOf(error), ...none, system: { syscall, path } };
}

/** Does what this thread is sent, in order. An error is told, and ends the thread. */
export function serveOrders<Job, Task, Packed>(work: ThreadWork<Job, Task, Packed>): void {
  if (parentPort === null) throw new Error('this is the program of a thread');
  const port = parentPort;
  const answer = (message: ThreadAnswer<Packed>, memory: ArrayBuffer[] = []): void => port.postMessage(message, memory);
  let run: (tasks: Task[]) => Promise<Packed> = async () => {
    throw new Error('tasks came before their job');
  };
  const obey = async (order: ThreadOrder<Job, Task>): Promise<void> => {
    if ('end' in order) {
      port.close();
      await work.close?.();
    } else if ('job' in order) run = await work.begin(order.job);
    else if ('told' in order) work.hear?.(order.told);
    else {
      const done = await run(order.tasks);
      answer({ done }, work.memoryOf?.(done));
    }
  };
  let hasFailed = false;
  const fail = (error: unknown): void => {
    answer({ error: toldOf(error) });
    port.close();
    hasFailed = true;
  };
  let last = Promise.resolve();
  port.on('message', (order: ThreadOrder<Job, Task>) => {
    last = last.then(() => (hasFailed ? undefined : obey(order).catch(fail)));
  });
}
