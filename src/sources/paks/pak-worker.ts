/* A thread that opens a PAK for itself and does the tasks that it is sent. */
import { openPak } from '../../paks/index.ts';
import { checkpoint, serveOrders, threadSetup } from '../../threads/serve-orders.ts';
import type { PakBatchDone, PakPath } from './pak-pool.ts';
import { type PakJob, type PakTask, pakTaskRunner } from './pak-tasks.ts';

const { path, options } = threadSetup<PakPath>();
const opened = openPak(path, options);
// The thread that started this one opened the same PAK and tells of what is wrong with it; here it matters when there is a job.
opened.catch(() => {});

serveOrders<PakJob, PakTask, PakBatchDone>({
  async begin(job) {
    const run = pakTaskRunner(await opened, job, checkpoint);
    return async (tasks) => {
      const done: PakBatchDone = { bytes: [], odd: [] };
      for (const task of tasks) {
        const result = await run(task);
        const { bytes, ...rest } = result;
        if (Object.keys(rest).length > 0) done.odd.push([done.bytes.length, result]);
        done.bytes.push(bytes);
      }
      return done;
    };
  },
  close: () => opened.then((pak) => pak.close()).catch(() => {}),
});
