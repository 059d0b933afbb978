/* A thread that opens a PAK for itself and does the tasks that it is sent. */
import type { SeenFolders } from '../../files/output/output-folder.ts';
import { openPak, openShared } from '../../paks/index.ts';
import type { Pak } from '../../paks/pak.ts';
import { checkpoint, serveOrders, threadSetup } from '../../threads/serve-orders.ts';
import type { PakBatchDone, PakOrder, PakPath } from './pak-pool.ts';
import { type PakTask, pakTaskRunner } from './pak-tasks.ts';

const { path, options } = threadSetup<PakPath>();
let opened: Promise<Pak> | undefined;

serveOrders<PakOrder, PakTask, PakBatchDone>({
  async begin({ job, directory }) {
    opened = directory === undefined ? openPak(path, options) : openShared(path, options, directory);
    const run = pakTaskRunner(await opened, job, checkpoint);
    return async (tasks) => {
      const done: PakBatchDone = { bytes: [], odd: [] };
      // A batch is done within a moment.
      const seen: SeenFolders = new Map();
      for (const task of tasks) {
        const result = await run(task, seen);
        if (Object.keys(result).length > 1) done.odd.push([done.bytes.length, result]);
        done.bytes.push(result.bytes);
      }
      return done;
    };
  },
  close: async () => opened?.then((pak) => pak.close()).catch(() => {}),
});
