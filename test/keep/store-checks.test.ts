import { expect, test } from '@jest/globals';
import { md5 } from '../../src/core/hash.ts';
import { encodeArchiveIndex, type IndexEntry } from '../../src/formats/indices/archive-index.ts';
import type { NamedIndex } from '../../src/formats/indices/index-layout.ts';
import { type ArchiveEntry, archiveEntries, unclaimable } from '../../src/keep/store-checks.ts';
import { collectGarbage } from '../support/garbage.ts';

function indexOf(places: readonly (readonly [offset: number, size: number])[]): NamedIndex {
  return encodeArchiveIndex(
    places.map(
      ([offset, size], i): IndexEntry => ({ ekey: md5(Uint8Array.of(i, i >> 8, i >> 16)), size, offset, archive: 0 }),
    ),
  );
}

function entriesOf({ bytes, name }: NamedIndex): Iterable<ArchiveEntry> {
  return archiveEntries(bytes, { kind: 'data', hash: name });
}

test('of an archive of very many tiny files no entry is an object before its turn comes', () => {
  const count = 300_000;
  const index = indexOf(Array.from({ length: count }, (_, i) => [i * 10, 10]));
  // What is alive: how much is garbage by then depends on the tests before this one.
  const alive = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = alive();
  const entries = entriesOf(index);
  let [seen, most, isInOrder] = [0, 0, true];
  for (const { offset } of entries) {
    isInOrder &&= offset === seen * 10;
    seen += 1;
    if (seen % 50_000 === 0) most = Math.max(most, alive() - before);
  }
  expect([seen, isInOrder]).toEqual([count, true]);
  // Objects with their keys in hex would be 60 MB.
  expect(most).toBeLessThan(30 << 20);
  // They can be gone through again.
  expect([...entries].length).toBe(count);
});

test('what the ledger holds where no entry lies is told', () => {
  // 0 to 30 and 50 to 60, with entries that lie in others.
  const entries = entriesOf(
    indexOf([
      [5, 10],
      [0, 30],
      [50, 10],
      [10, 2],
    ]),
  );
  expect(unclaimable([{ start: 0, end: 30 }], entries)).toEqual([]);
  const spans = [
    { start: 5, end: 25 },
    { start: 40, end: 70 },
  ];
  expect(unclaimable(spans, entries)).toEqual([
    { start: 40, end: 50 },
    { start: 60, end: 70 },
  ]);
  expect(unclaimable([{ start: 0, end: 10 }], [])).toEqual([{ start: 0, end: 10 }]);
});
