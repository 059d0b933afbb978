import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RecordTable } from '../../../src/core/tables/record-table.ts';

const table = (rows: readonly (readonly number[])[]): RecordTable =>
  new RecordTable(Uint8Array.from(rows.flat()), rows[0]?.length ?? 1);

test('rows are views, in order', () => {
  const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6, 7);
  const rows = new RecordTable(bytes, 2);
  expect(rows.count).toBe(3);
  expect([...rows].map((row) => [...row])).toEqual([
    [1, 2],
    [3, 4],
    [5, 6],
  ]);
  bytes[2] = 9;
  expect(rows.at(1)[0]).toBe(9);
});

test('more rows than there are bytes are refused before anything else', () => {
  expect(() => new RecordTable(new Uint8Array(7), 2, 4)).toThrow(
    expect.objectContaining({ code: 'E_FORMAT_TRUNCATED' }),
  );
  expect(() => new RecordTable(new Uint8Array(7), 24, 0xffffffff)).toThrow(
    expect.objectContaining({ code: 'E_FORMAT_TRUNCATED' }),
  );
  expect(new RecordTable(new Uint8Array(7), 2, 3).count).toBe(3);
});

describe('look-up', () => {
  const sortedRows = fc
    .array(fc.tuple(fc.nat(3), fc.nat(3), fc.nat(255)), { maxLength: 40, size: 'max' })
    .map((rows) => rows.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));

  test('lowerBound is the first row that is not below the key, find the first that starts with it', () => {
    fc.assert(
      fc.property(sortedRows, fc.array(fc.nat(4), { minLength: 1, maxLength: 2 }), (rows, key) => {
        const found = table(rows).lowerBound(Uint8Array.from(key));
        const starts = rows.map((row) => Buffer.from(row.slice(0, key.length)));
        const first = starts.findIndex((start) => Buffer.compare(start, Buffer.from(key)) >= 0);
        expect(found).toBe(first === -1 ? rows.length : first);
        const equal = starts.findIndex((start) => start.equals(Buffer.from(key)));
        const match = table(rows).find(Uint8Array.from(key));
        expect(match === undefined ? undefined : [...match]).toEqual(equal === -1 ? undefined : rows[equal]);
        // The same key, where it lies among others.
        const among = Uint8Array.from([9, ...key, 9]);
        expect(table(rows).indexOf(among, 1, key.length)).toBe(equal);
        expect(table(rows).lowerBound(among, 1, key.length)).toBe(found);
      }),
    );
  });

  test('an empty table has nothing', () => {
    expect(table([]).find(Uint8Array.of(1))).toBeUndefined();
    expect(table([]).lowerBound(Uint8Array.of(1))).toBe(0);
  });
});
