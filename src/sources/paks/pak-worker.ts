/* A thread that opens a PAK for itself and does the tasks that it is sent. */
import { parentPort, workerData } from 'node:worker_threads';
import { isPakratError, messageOf, PakratError } from '../../core/errors.ts';
import { openPak } from '../../paks/index.ts';
import type { BatchDone, PakWorkerAnswer, PakWorkerData, PakWorkerOrder } from './pak-pool.ts';
import { type PakTaskRunner, pakTaskRunner } from './pak-tasks.ts';

if (parentPort === null) throw new Error('this is the program of a thread');
const port = parentPort;
const { from, stop } = workerData as PakWorkerData;

function checkpoint(): void {
  if (Atomics.load(stop, 0) !== 0) throw new PakratError('E_ABORTED', 'interrupted');
}

function answer(message: PakWorkerAnswer): void {
  port.postMessage(message);
}

let run: PakTaskRunner = async () => {
  throw new Error('tasks came before their job');
};
const opened = openPak(from.path, from.options);
// The thread that started this one opened the same PAK and tells of what is wrong with it; here it matters when there is a job.
opened.catch(() => {});

async function obey(order: PakWorkerOrder): Promise<void> {
  if ('end' in order) {
    port.close();
    await opened.then((pak) => pak.close()).catch(() => {});
  } else if ('job' in order) {
    run = pakTaskRunner(await opened, order.job, checkpoint);
  } else {
    const done: BatchDone = { bytes: [], odd: [] };
    for (const task of order.tasks) {
      const result = await run(task);
      const { bytes, ...rest } = result;
      if (Object.keys(rest).length > 0) done.odd.push([done.bytes.length, result]);
      done.bytes.push(bytes);
    }
    answer({ done });
  }
}

/** Tells what ends the whole job, and ends this thread. */
function fail(error: unknown): void {
  answer(
    isPakratError(error)
      ? { error: { code: error.code, message: error.message, hint: error.hint, data: error.data } }
      : { error: { code: undefined, message: (error as Error).stack ?? messageOf(error), hint: undefined, data: {} } },
  );
  port.close();
  hasFailed = true;
}

let hasFailed = false;
let last = Promise.resolve();
port.on('message', (order: PakWorkerOrder) => {
  last = last.then(() => (hasFailed ? undefined : obey(order).catch(fail)));
});
