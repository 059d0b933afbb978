import * as fs from 'node:fs';
import { join } from 'node:path';
import type { EntryPlace } from '../builds/objects.ts';
import { codeOf } from '../core/errors.ts';
import { moveDurable, storeError } from '../files/durable.ts';
import { objectPath } from '../store/layout.ts';
import type { Store } from '../store/store.ts';
import type { RangeJob, RangeTarget } from './transfer/range-job.ts';

/** The file in which a loose object grows until it is whole. */
export function partialFile(store: Store, hash: string): string {
  return join(store.layout.temporary, `${hash}.partial`);
}

/** The file that the bytes of an entry go to, at its offset. */
export function entryFile(store: Store, { object, loose }: EntryPlace): string {
  return loose ? partialFile(store, object.hash) : store.file(objectPath(object));
}

/** Gives a loose object that is whole its final name, and says in the ledger that it is held. Entries of archives are passed over. */
export function completeLoose(store: Store, job: RangeJob, target: RangeTarget): void {
  const final = store.file(job.path);
  if (job.file === final) return;
  try {
    moveDurable(job.file, final);
  } catch (error) {
    // Another process that fetched the same object was first: the name holds the same bytes.
    if (codeOf(error) !== 'ENOENT' || !fs.existsSync(final)) throw storeError(error, final);
  }
  store.ledger.transaction(() => store.ledger.addComplete(job.path, target.size));
}
