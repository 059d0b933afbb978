import { expect, test } from '@jest/globals';
import { HashTags } from '../../../src/core/tables/hash-tags.ts';
import { randomSource } from '../../support/hostile.ts';

test.each([
  ['all of them 0', () => 0],
  ['of 32 bits', (i: number) => (i * 0x9e3779b1) >>> 0],
  ['of which the first that is not 0 comes late', (i: number) => (i < 15_000 ? 0 : i)],
])('has each hash that was added with its number, and no other: numbers %s', (_, tagOf) => {
  const random = randomSource(5);
  const word = (): number => Math.floor(random() * 2 ** 32);
  const hashes = Array.from({ length: 20_000 }, () => [word(), word()] as const);
  const table = new HashTags();
  for (const [i, [first, second]] of hashes.entries()) table.add(first, second, tagOf(i));
  expect(hashes.map(([first, second]) => table.tagOf(first, second))).toEqual(hashes.map((_, i) => tagOf(i)));
  expect(hashes.some(([first, second]) => table.tagOf(first, second ^ 1) !== undefined)).toBe(false);
});

test('takes a hash of zeros, and those that begin alike', () => {
  const table = new HashTags();
  expect(table.tagOf(0, 0)).toBeUndefined();
  table.add(0, 0, 9);
  for (let i = 2; i < 3000; i++) table.add(7, i, i % 3);
  expect([table.tagOf(0, 0), table.tagOf(7, 2), table.tagOf(7, 2999), table.tagOf(7, 3000), table.tagOf(0, 2)]).toEqual(
    [9, 2, 2, undefined, undefined],
  );
});
