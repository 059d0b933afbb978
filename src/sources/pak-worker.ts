/* A thread that opens a PAK for itself and does the tasks that it is sent. */
import { parentPort, workerData } from 'node:worker_threads';
import { isPakratError, messageOf, PakratError } from '../core/errors.ts';
import { openLocal } from './open-local.ts';
import type { PakWorkerAnswer, PakWorkerData } from './pak-pool.ts';
import { type PakTask, type PakTaskResult, pakTaskRunner } from './pak-tasks.ts';

const port = parentPort!;
const { place, job, stop } = workerData as PakWorkerData;

function checkpoint(): void {
  if (Atomics.load(stop, 0) !== 0) throw new PakratError('E_ABORTED', 'interrupted');
}

function answer(message: PakWorkerAnswer): void {
  port.postMessage(message);
}

/** Tells what ends the whole job, and ends this thread when what it had in hand is done. */
function fail(error: unknown): void {
  answer(
    isPakratError(error)
      ? { error: { code: error.code, message: error.message, hint: error.hint, data: error.data } }
      : { error: { code: undefined, message: (error as Error).stack ?? messageOf(error), hint: undefined, data: {} } },
  );
  port.close();
}

// Messages wait until somebody listens: a batch that comes while the PAK is opened is not lost.
const opened = openLocal(place).then((pak) => ({ pak, run: pakTaskRunner(pak, job, checkpoint) }));
let last: Promise<void> = opened.then(() => {}, fail);

port.on('message', (tasks: PakTask[] | undefined) => {
  last = last.then(async () => {
    try {
      const { pak, run } = await opened;
      if (tasks === undefined) {
        await pak.close();
        port.close();
        return;
      }
      const results: PakTaskResult[] = [];
      for (const task of tasks) results.push(await run(task));
      answer({ results });
    } catch (error) {
      fail(error);
    }
  });
});
