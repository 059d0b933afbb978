import type { Store } from '../store/store.ts';
import type { RangeJob, RangeTarget } from './transfer/range-job.ts';

/** Gives a loose object that is whole its final name, and says in the ledger that it is held. Entries of archives are passed over. */
export function completeLoose({ files }: Store, { path }: Pick<RangeJob, 'path'>, target: RangeTarget): void {
  if (path.endsWith(target.ekey)) files.complete(path, target.size);
}
