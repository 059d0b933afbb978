/* A thread that decodes files of a build and writes them. */
import { checkpoint, serveOrders } from '../../../threads/serve-orders.ts';
import { type CheckTask, type ExtractJob, type ExtractTask, extractRunner, type TaskResult } from './extract-tasks.ts';
import { type ToldKey, ToldKeys } from './told-keys.ts';

const keys = new ToldKeys();

serveOrders<ExtractJob, CheckTask | ExtractTask, TaskResult[]>({
  async begin({ to }) {
    return extractRunner({ to, keys, checkpoint });
  },
  hear: (told) => keys.hear(told as ToldKey),
});
