/* A thread that hashes what a store holds. */
import { serveOrders } from '../../threads/serve-orders.ts';
import { HashBuffer } from '../../verify/hash-buffer.ts';
import { type Proof, type ProofTask, proveObject } from './proof-tasks.ts';

serveOrders<undefined, ProofTask, (Proof | undefined)[]>({
  async begin() {
    const buffer = new HashBuffer();
    return async (tasks) => {
      const proofs: (Proof | undefined)[] = [];
      for (const task of tasks) proofs.push(await proveObject(task, buffer));
      return proofs;
    };
  },
});
