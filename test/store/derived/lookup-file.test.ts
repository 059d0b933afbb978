import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sortRecords } from '../../../src/core/sorting/sort-records.ts';
import { LookupFile, writeLookupFile } from '../../../src/store/derived/lookup-file.ts';
import { randomSource } from '../../support/hostile.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const file = scratch('names');

async function write(rows: readonly (readonly number[])[], stride: number): Promise<void> {
  const bytes = Uint8Array.from(rows.flat());
  await writeLookupFile(file, { stride, rows: [sortRecords(bytes, stride, stride)] }, scratch('tmp'));
}

function withFile<Result>(stride: number, body: (lookup: LookupFile) => Result): Result {
  const lookup = new LookupFile(file, { stride });
  try {
    return body(lookup);
  } finally {
    lookup.close();
  }
}

test('every row that starts with a key is found, in order, and no other', async () => {
  const rows = fc.array(fc.tuple(fc.nat(5), fc.nat(5), fc.nat(255), fc.nat(255), fc.nat(255)), {
    maxLength: 200,
    size: 'max',
  });
  await fc.assert(
    fc.asyncProperty(rows, fc.array(fc.nat(6), { minLength: 1, maxLength: 3 }), async (values, key) => {
      await write(values, 5);
      const sorted = values.map((row) => Buffer.from(row)).sort(Buffer.compare);
      withFile(5, (lookup) => {
        expect([lookup.count, lookup.stride]).toEqual([values.length, 5]);
        const found = [...lookup.find(Uint8Array.from(key))].map((row) => Buffer.from(row));
        expect(found).toEqual(sorted.filter((row) => row.subarray(0, key.length).equals(Buffer.from(key))));
        expect([...lookup].map((row) => Buffer.from(row))).toEqual(sorted);
      });
    }),
    { numRuns: 40 },
  );
});

test('many pages: every key is found where it is, and a run of equal starts across pages is whole', async () => {
  const random = randomSource(5);
  const rows = Array.from({ length: 5000 }, (_, i) => [
    i % 7 === 0 ? 42 : Math.floor(random() * 256),
    i >> 8,
    i & 255,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
  ]);
  await write(rows, 16);
  const sorted = rows.map((row) => Buffer.from(row)).sort(Buffer.compare);
  withFile(16, (lookup) => {
    for (let i = 0; i < sorted.length; i += 7) {
      expect(lookup.lowerBound(sorted[i]!)).toBe(i);
      expect([...lookup.find(sorted[i]!)]).toHaveLength(1);
    }
    expect([...lookup.find(Uint8Array.of(42))]).toHaveLength(sorted.filter((row) => row[0] === 42).length);
    expect(lookup.lowerBound(Uint8Array.of(255, 255, 255))).toBe(5000);
    expect([...lookup.rows(4990, 100)]).toHaveLength(10);
  });
});

test('a look-up reads a few pages, not the file', async () => {
  const rows = Array.from({ length: 100_000 }, (_, i) => [i >> 16, (i >> 8) & 255, i & 255, 0]);
  await write(rows, 4);
  withFile(4, (lookup) => {
    let read = 0;
    const rowsOf = lookup.rows.bind(lookup);
    lookup.rows = (first, count) => {
      read += count * lookup.stride;
      return rowsOf(first, count);
    };
    expect([...lookup.find(Uint8Array.of(0, 200, 7, 0))]).toHaveLength(1);
    expect(read).toBeLessThanOrEqual(10 * 4096);
  });
});
