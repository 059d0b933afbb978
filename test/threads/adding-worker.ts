/* A thread for tests: adds to numbers. One below zero ends the job, one below -1 with an error of the system. */
import * as fs from 'node:fs';
import { PakratError } from '../../src/core/errors.ts';
import { checkpoint, serveOrders } from '../../src/threads/serve-orders.ts';

let told = 0;

serveOrders<{ add: number }, number, number[]>({
  async begin({ add }) {
    return async (tasks) =>
      tasks.map((number) => {
        checkpoint();
        if (number < -1) fs.readFileSync('/no such file');
        if (number < 0) throw new PakratError('E_STORE_FULL', 'no room', { hint: 'Make some.' });
        return number + add + told;
      });
  },
  hear(more) {
    told += more as number;
  },
});
