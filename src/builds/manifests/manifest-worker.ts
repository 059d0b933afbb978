/* A thread that decodes a manifest. */
import { checkpoint, serveOrders } from '../../threads/serve-orders.ts';
import { decodeManifest, type ManifestTask } from './manifest-thread.ts';

serveOrders<undefined, ManifestTask, undefined[]>({
  async begin() {
    return async (tasks) => {
      for (const task of tasks) await decodeManifest(task, checkpoint);
      return tasks.map(() => undefined);
    };
  },
});
