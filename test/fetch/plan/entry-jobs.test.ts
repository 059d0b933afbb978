import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { EntryPlace } from '../../../src/builds/objects.ts';
import { partialFile } from '../../../src/fetch/loose-objects.ts';
import { entryJobs } from '../../../src/fetch/plan/entry-jobs.ts';
import { objectPath } from '../../../src/store/layout.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const object = { cdnPath: 'tpr/wow', kind: 'data' as const, hash: '1'.repeat(32) };
const other = { ...object, hash: '2'.repeat(32) };
const place = (n: number, offset: number, more: Partial<EntryPlace> = {}): EntryPlace => ({
  ekey: String(n).repeat(32),
  object,
  loose: false,
  offset,
  size: 100,
  ...more,
});

let store: Store;
let number = 0;
beforeEach(() => {
  number += 1;
  store = openStore(scratch(`store${number}`), { create: true });
});
afterEach(() => store.close());

test('entries that lie close come in one range, others and loose ones in their own, each once', () => {
  const jobs = entryJobs(
    store,
    [
      place(4, 5000),
      place(1, 0),
      place(2, 150),
      place(1, 0),
      place(3, 240),
      place(5, 0, { object: other, loose: true }),
    ],
    { gapBytes: 50, maxRangeBytes: 1000 },
  );
  expect(jobs.map(({ start, end, targets }) => [start, end, targets.map(({ ekey }) => ekey[0])])).toEqual([
    [0, 250, ['1', '2']],
    // It overlaps the one before, as only a hostile index has it.
    [240, 340, ['3']],
    [5000, 5100, ['4']],
    [0, 100, ['5']],
  ]);
  expect(jobs[0]!.file).toBe(store.file(objectPath(object)));
  expect(jobs[3]!.file).toBe(partialFile(store, other.hash));
});

test('no range is longer than the longest that may be asked for', () => {
  const places = [place(1, 0), place(2, 100), place(3, 200), place(4, 300)];
  const jobs = entryJobs(store, places, { gapBytes: 50, maxRangeBytes: 250 });
  expect(jobs.map(({ start, end }) => [start, end])).toEqual([
    [0, 200],
    [200, 400],
  ]);
});

test('where answers are whole objects there is one job for each', () => {
  const places = [place(1, 0), place(2, 5000), place(3, 0, { object: other })];
  const jobs = entryJobs(store, places, { gapBytes: 0, maxRangeBytes: 100, whole: true });
  expect(jobs.map(({ start, end, targets }) => [start, end, targets.length])).toEqual([
    [0, 5100, 2],
    [0, 100, 1],
  ]);
});

test('an entry of which the start is held is asked for from there', () => {
  store.ledger.addSpans(objectPath(object), [{ start: 900, end: 1040 }]);
  const [job] = entryJobs(store, [place(1, 1000)], { gapBytes: 0, maxRangeBytes: 1000 });
  expect(job).toMatchObject({ start: 1040, end: 1100, targets: [{ held: 40 }] });
});
