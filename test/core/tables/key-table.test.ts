import { expect, test } from '@jest/globals';
import { md5 } from '../../../src/core/hash.ts';
import { KeyTable } from '../../../src/core/tables/key-table.ts';

const keyOf = (i: number): Uint8Array => md5(Uint8Array.of(i, i >>> 8, i >>> 16));

test('gives each key the number of those before it, once', () => {
  // More than a block has.
  const count = 150_000;
  const keys = new KeyTable();
  const all = Array.from({ length: count }, (_, i) => i);
  expect(all.every((i) => keys.add(keyOf(i)) === i)).toBe(true);
  expect(all.every((i) => keys.add(keyOf(i)) === i)).toBe(true);
  expect(keys.count).toBe(count);
  expect(all.every((i) => keys.numberOf(keyOf(i)) === i)).toBe(true);
  expect(all.some((i) => i < 1000 && keys.numberOf(keyOf(count + i)) !== -1)).toBe(false);
  expect(keys.at(140_001)).toEqual(Buffer.from(keyOf(140_001)));
});

test('tells keys apart that begin alike, and one of zeros', () => {
  const keys = new KeyTable();
  const alike = (i: number): Uint8Array => new Uint8Array(16).fill(i, 14);
  for (let i = 0; i < 256; i++) expect(keys.add(alike(i))).toBe(i);
  expect([0, 1, 255].map((i) => keys.numberOf(alike(i)))).toEqual([0, 1, 255]);
  expect(keys.numberOf(new Uint8Array(16).fill(1, 15))).toBe(-1);
});
