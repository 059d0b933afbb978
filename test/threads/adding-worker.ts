/* A thread for tests: adds to numbers. One below zero ends the job. */
import { PakratError } from '../../src/core/errors.ts';
import { checkpoint, serveOrders } from '../../src/threads/serve-orders.ts';

let told = 0;

serveOrders<{ add: number }, number, number[]>({
  async begin({ add }) {
    return async (tasks) =>
      tasks.map((number) => {
        checkpoint();
        if (number < 0) throw new PakratError('E_STORE_FULL', 'no room', { hint: 'Make some.' });
        return number + add + told;
      });
  },
  hear(more) {
    told += more as number;
  },
});
