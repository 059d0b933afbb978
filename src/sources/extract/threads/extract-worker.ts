/* A thread that decodes files of a build and writes them. */
import { checkpoint, serveOrders } from '../../../threads/serve-orders.ts';
import type { ExtractJob, ToldKey } from '../extract-chosen.ts';
import { type CheckTask, type ExtractTask, extractRunner, type TaskResult } from './extract-tasks.ts';

const keys = new Map<string, Uint8Array>();

serveOrders<ExtractJob, CheckTask | ExtractTask, TaskResult[]>({
  async begin({ to }) {
    return extractRunner({ to, keys: { find: (name) => keys.get(name) }, checkpoint });
  },
  hear(told) {
    const { name, key } = told as ToldKey;
    keys.set(name, key);
  },
});
