/* A thread that decodes a manifest. */
import { emptyKeyRing } from '../../formats/blte/keys.ts';
import { checkpoint, serveOrders } from '../../threads/serve-orders.ts';
import { decodeHeld } from './decode-held.ts';
import type { ManifestTask } from './manifest-thread.ts';

serveOrders<undefined, ManifestTask, undefined[]>({
  async begin() {
    return async (tasks) => {
      for (const { held, entry, manifest, folders } of tasks) {
        // Asked after each read.
        const objects = { open: () => held, demandHeld: checkpoint };
        await decodeHeld({ objects, folders }, entry, manifest, emptyKeyRing);
      }
      return tasks.map(() => undefined);
    };
  },
});
