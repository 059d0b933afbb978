import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { completeLoose } from '../../src/fetch/loose-objects.ts';
import type { RangeJob, RangeTarget } from '../../src/fetch/transfer/range-job.ts';
import { objectPath } from '../../src/store/layout.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const hash = 'ab'.repeat(16);
const path = objectPath({ cdnPath: 'tpr/wow', kind: 'data', hash });
const target: RangeTarget = { ekey: hash, offset: 0, size: 5, held: 0 };

let store: Store;
let job: RangeJob;
let number = 0;
beforeEach(() => {
  number += 1;
  store = openStore(scratch(`store${number}`), { create: true });
  job = { path, ...store.files.partial(path), start: 0, end: 5, targets: [target] };
});
afterEach(() => store.close());

function write(file: string): void {
  fs.mkdirSync(dirname(file), { recursive: true });
  fs.writeFileSync(file, 'bytes');
}

test('a loose object that is whole gets its final name, and the ledger says so', () => {
  write(job.file);
  completeLoose(store, job, target);
  expect(fs.readFileSync(store.file(path), 'utf8')).toBe('bytes');
  expect(fs.existsSync(job.file)).toBe(false);
  expect(store.ledger.completeSize(path)).toBe(5);
});

test('another process that fetched the same object first does no harm', () => {
  write(store.files.inPlace(path));
  completeLoose(store, job, target);
  expect(store.ledger.completeSize(path)).toBe(5);
});

test('one of which nothing is on disk is never called held', () => {
  expect(() => completeLoose(store, job, target)).toThrow(expect.objectContaining({ code: 'E_STORE' }));
  expect(store.ledger.completeSize(path)).toBeUndefined();
});

test('an entry of an archive is passed over', () => {
  write(job.file);
  completeLoose(store, job, { ...target, ekey: 'cd'.repeat(16) });
  expect(store.ledger.completeSize(path)).toBeUndefined();
});
