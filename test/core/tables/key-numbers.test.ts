import { expect, test } from '@jest/globals';
import { md5 } from '../../../src/core/hash.ts';
import { KeyNumbers } from '../../../src/core/tables/key-numbers.ts';

const keyOf = (i: number): Uint8Array => md5(Uint8Array.of(i, i >>> 8, i >>> 16));

test('finds the number of each key, however many there are, and none of another', () => {
  const count = 100_000;
  const numbers = new KeyNumbers();
  for (let i = 0; i < count; i++) numbers.add(keyOf(i), i);
  const find = (i: number): number => numbers.find(keyOf(i), (number) => Buffer.compare(keyOf(number), keyOf(i)) === 0);
  for (let i = 0; i < count; i++) if (find(i) !== i) throw new Error(`${i} is not there`);
  for (let i = count; i < 2 * count; i++) if (find(i) !== -1) throw new Error(`${i} is there`);
});

test('keys that begin alike, and one key of several numbers, are told apart by whoever has them', () => {
  const numbers = new KeyNumbers();
  // The last places are followed by the first.
  const key = new Uint8Array(16).fill(0xff);
  for (let i = 0; i < 700; i++) numbers.add(key, i);
  const asked: number[] = [];
  expect(numbers.find(key, (number) => asked.push(number) > 0 && number === 555)).toBe(555);
  expect(asked).toContain(555);
  expect(numbers.find(key, () => false)).toBe(-1);
  expect(numbers.find(new Uint8Array(16), () => true)).toBe(-1);
});
