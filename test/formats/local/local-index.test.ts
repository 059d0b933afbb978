import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { fromHex, toHex } from '../../../src/core/bytes.ts';
import { hashLittle } from '../../../src/core/jenkins.ts';
import {
  bucketOf,
  decodeLocalIndex,
  encodeLocalIndex,
  encodeLocalRow,
  type LocalEntry,
} from '../../../src/formats/local/local-index.ts';
import { encodeLocalUpdates } from '../../../src/formats/local/local-updates.ts';
import { expectHostileSafe, randomSource } from '../../support/hostile.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { makeTree } from '../../support/synthetic-cdn.ts';
import { codeOf } from '../../support/thrown-code.ts';

const scratch = scratchFolder();
const bucket = 5;
const random = randomSource(7);

/** Entries of one bucket, at places of all sizes. */
function someEntries(count: number): LocalEntry[] {
  return Array.from({ length: count }, (_, i) => {
    const key = Uint8Array.from({ length: 9 }, () => Math.floor(random() * 256));
    key[8] = key[8]! ^ bucketOf(key) ^ bucket;
    return { key, archive: i % 1024, offset: (i * 7919 * 131) % 2 ** 30, size: i * 37 + 40 };
  });
}
const sorted = (entries: Iterable<LocalEntry>): LocalEntry[] =>
  [...entries]
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .map((entry) => ({ ...entry, key: Uint8Array.from(entry.key) }));

describe('the index files of a generated client', () => {
  test('are read, and written again byte for byte', () => {
    const root = scratch('tree');
    makeTree(root, 9, ['--files', '60', '--total-bytes', '200K', '--local', '--segment', '60000']);
    const folder = join(root, 'local/Data/data');
    const archives = new Set<number>();
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.idx'))) {
      const bytes = new Uint8Array(readFileSync(join(folder, name)));
      const index = decodeLocalIndex(bytes);
      expect(index.bucket).toBe(Number.parseInt(name.slice(0, 2), 16));
      for (const { key, archive, offset, size } of index) {
        archives.add(archive);
        const file = readFileSync(join(folder, `data.${String(archive).padStart(3, '0')}`));
        expect(file.readUInt32LE(offset + 16)).toBe(size);
        expect(toHex(Uint8Array.from(file.subarray(offset + 7, offset + 16)).reverse())).toBe(toHex(key));
      }
      expect(Buffer.compare(encodeLocalIndex(index), bytes)).toBe(0);
    }
    expect(archives.size).toBeGreaterThan(1);
  });
});

test('every entry is found by its key, long or short, and others are not', () => {
  const entries = someEntries(500);
  const index = decodeLocalIndex(encodeLocalIndex({ bucket, sorted: entries }));
  expect([...index]).toEqual(sorted(entries));
  for (const entry of entries) {
    expect(index.find(entry.key)).toEqual(entry);
    expect(index.find(Uint8Array.of(...entry.key, 1, 2, 3, 4, 5, 6, 7))).toEqual(entry);
  }
  expect(index.find(fromHex('00'.repeat(9)))).toBeUndefined();
});

/** An index of some entries with updates behind them, from `start` on. */
function updated(
  entries: readonly LocalEntry[],
  updates: readonly { entry: LocalEntry; status: number }[],
  start = 0x10000,
) {
  const bytes = encodeLocalIndex({ bucket, sorted: entries });
  const rows = updates.map(({ entry, status }) => ({ row: encodeLocalRow(entry, bucket), status }));
  bytes.set(encodeLocalUpdates(rows), start);
  return bytes;
}

test('updates go before the sorted rows, later ones before earlier ones, and hide what is deleted', () => {
  const entries = someEntries(30);
  const [deleted, moved, gone, back] = entries as [LocalEntry, LocalEntry, LocalEntry, LocalEntry];
  const more = someEntries(40);
  const elsewhere = { ...moved, archive: 9, offset: 99 };
  const bytes = updated(entries, [
    { entry: deleted, status: 3 },
    { entry: { ...moved, offset: 1 }, status: 0 },
    { entry: elsewhere, status: 0 },
    { entry: gone, status: 7 },
    { entry: back, status: 3 },
    // More than one page: the rows of a page do not fill it.
    ...more.map((entry) => ({ entry, status: 0 })),
    { entry: back, status: 0 },
  ]);
  const index = decodeLocalIndex(bytes);
  expect(Buffer.compare(encodeLocalIndex(index), bytes)).toBe(0);
  expect(index.find(deleted.key)).toBeUndefined();
  expect(index.find(gone.key)).toBeUndefined();
  expect(index.find(moved.key)).toEqual(elsewhere);
  for (const entry of [back, ...more, ...entries.slice(4)]) expect(index.find(entry.key)).toEqual(entry);
  expect(sorted(index)).toEqual(sorted([elsewhere, back, ...more, ...entries.slice(4)]));
});

test.each([0x1000, 0x10000])('an index that has updates only, at %i', (start) => {
  const entries = someEntries(25);
  const bytes = updated(
    [],
    entries.map((entry) => ({ entry, status: 0 })),
    start,
  );
  const index = decodeLocalIndex(bytes);
  expect(sorted(index)).toEqual(sorted(entries));
  expect(Buffer.compare(encodeLocalIndex(index), bytes)).toBe(0);
});

test('an update that was not written whole ends the list', () => {
  const [first, second, third] = someEntries(3) as [LocalEntry, LocalEntry, LocalEntry];
  const bytes = updated(
    [],
    [first, second, third].map((entry) => ({ entry, status: 0 })),
  );
  bytes[0x10000 + 24 + 10]! ^= 1;
  expect([...decodeLocalIndex(bytes)]).toEqual([first]);
});

test('the hash over all rows at once, as some writers have it, is taken, too', () => {
  const bytes = encodeLocalIndex({ bucket, sorted: someEntries(10) });
  new DataView(bytes.buffer).setUint32(0x24, hashLittle(bytes.subarray(0x28, 0x28 + 180)), true);
  expect([...decodeLocalIndex(bytes)]).toHaveLength(10);
  expect(Buffer.compare(encodeLocalIndex(decodeLocalIndex(bytes)), bytes)).toBe(0);
});

test('damage is found', () => {
  const valid = encodeLocalIndex({ bucket, sorted: someEntries(10) });
  const changed = (at: number) => () => {
    const bytes = valid.slice();
    bytes[at]! ^= 1;
    return decodeLocalIndex(bytes);
  };
  expect(codeOf(changed(0))).toBe('E_FORMAT_MAGIC');
  expect(codeOf(changed(9))).toBe('E_FORMAT_CHECKSUM');
  expect(codeOf(changed(0x28 + 100))).toBe('E_FORMAT_CHECKSUM');
  expect(codeOf(changed(0x20))).toBe('E_FORMAT');
  expect(codeOf(changed(0x22))).toMatch(/^E_FORMAT/);
  expect(codeOf(() => decodeLocalIndex(valid.subarray(0, 0x28 + 179)))).toBe('E_FORMAT_TRUNCATED');
  const wrongBucket = (): unknown => encodeLocalIndex({ bucket: bucket + 1, sorted: someEntries(1) });
  expect(codeOf(wrongBucket)).toBe('E_FORMAT_RANGE');
});

test('whatever comes is told or refused', () => {
  const entries = someEntries(20);
  const rows = updated(
    entries,
    entries.slice(3, 9).map((entry) => ({ entry, status: 3 })),
  );
  expectHostileSafe((bytes) => [...decodeLocalIndex(bytes)], rows, { prefixesFail: false, samples: 150 });
});
