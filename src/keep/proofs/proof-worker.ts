/* A thread that hashes what a store holds. */
import { serveOrders } from '../../threads/serve-orders.ts';
import type { Proof } from '../../verify/entry-columns.ts';
import { EntryProver } from '../../verify/entry-prover.ts';
import { HashBuffer } from '../../verify/hash-buffer.ts';
import { type EntriesTask, type ProofTask, proveEntriesOf, proveObject } from './proof-tasks.ts';
import { quickProofs } from './quick-proofs.ts';

serveOrders<undefined, ProofTask | EntriesTask, (Proof | undefined)[]>({
  async begin() {
    const prover = new EntryProver();
    let buffer: HashBuffer | undefined;
    return async (tasks) => {
      const proofs = quickProofs(tasks, prover);
      for (const [i, task] of tasks.entries()) {
        if (proofs[i] !== undefined) continue;
        buffer ??= new HashBuffer();
        proofs[i] = await ('spans' in task ? proveObject(task, buffer) : proveEntriesOf(task, buffer));
      }
      return proofs;
    };
  },
});
