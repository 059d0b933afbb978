/* A thread that goes through the names of a list, and writes what they are found by. */
import { viewOf } from '../../../core/bytes.ts';
import { checkpoint, serveOrders } from '../../../threads/serve-orders.ts';
import { dealtWords, type HashOrder, hashNames, hashPieces, orderOfHashes } from './listed-rows.ts';
import { writeHashes } from './listfile-lookups.ts';
import { countAt, isAllAt, type ListfileJob, type ListfileTask } from './listfile-thread.ts';
import { FolderFinder, type FoundFolders } from './sorted-names.ts';

/** Names that are gone through before it is looked whether all must end, and milliseconds of waiting for more. */
const namesPerTurn = 1 << 14;
const waitMs = 20;

serveOrders<ListfileJob, ListfileTask, (FoundFolders | undefined)[]>({
  async begin({ names, folders, progress }) {
    const { bytes } = names;
    const view = viewOf(bytes);
    let hashed = 0;
    let order: HashOrder | undefined;
    const hashTo = (count: number): void => {
      for (; hashed < count; checkpoint()) {
        const to = Math.min(count, hashed + namesPerTurn);
        hashNames(names, view, [hashed, to]);
        hashed = to;
      }
    };
    /** Hashes names as well, as long as there are no others. */
    const findFolders = (): FoundFolders | undefined => {
      const finder = new FolderFinder(names);
      for (let done = 0; ; checkpoint()) {
        // Asked before the count, which is final then.
        const isAll = Atomics.load(progress, isAllAt) === 1;
        const count = Atomics.load(progress, countAt);
        if (done === count && isAll) return finder.found;
        if (done === count) {
          if (hashed < done) hashTo(Math.min(done, hashed + namesPerTurn));
          else Atomics.wait(progress, countAt, count, waitMs);
          continue;
        }
        const to = Math.min(count, done + namesPerTurn);
        finder.goThrough(done, to);
        done = to;
      }
    };
    return async ([task]) => {
      if (task === 'folders') return [findFolders()];
      const count = Atomics.load(progress, countAt);
      if (task === 'hashes') {
        hashTo(count);
        order = orderOfHashes(names, count);
      } else if (task !== undefined && order !== undefined) {
        const { base, of } = task;
        const memory = new Uint32Array(bytes.buffer, 0, dealtWords * count);
        await writeHashes(folders, base, { rows: interruptible(hashPieces(order, memory)), of });
      }
      return [undefined];
    };
  },
});

function* interruptible<Piece>(pieces: Iterable<Piece>): Generator<Piece> {
  for (const piece of pieces) {
    checkpoint();
    yield piece;
  }
}
