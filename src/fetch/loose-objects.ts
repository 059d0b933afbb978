import * as fs from 'node:fs';
import { join } from 'node:path';
import type { EntryPlace } from '../builds/objects.ts';
import { codeOf } from '../core/errors.ts';
import { inStore, moveDurable, storeError } from '../files/durable.ts';
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

/**
 * Makes a loose object that lies under its final name, and that the ledger does not know, one that is held in part: its bytes are hashed
 * then before any are fetched.
 */
export function reopenLoose(store: Store, { path, file }: RangeJob): void {
  const final = store.file(path);
  if (file === final || fs.existsSync(file) || !fs.existsSync(final)) return;
  if (store.ledger.completeSize(path) === undefined) inStore(file, () => moveDurable(final, file));
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
