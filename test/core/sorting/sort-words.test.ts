import { expect, test } from '@jest/globals';
import { orderOfWords } from '../../../src/core/sorting/sort-words.ts';
import { randomSource } from '../../support/hostile.ts';

const random = randomSource(3);
const times = (count: number, value: (i: number) => number): Uint32Array =>
  Uint32Array.from({ length: count }, (_, i) => value(i));

test.each([
  ['none', times(0, () => 0)],
  ['one', times(1, () => 7)],
  ['few', times(5, (i) => 5 - i)],
  ['evenly spread', times(20_000, () => random() * 2 ** 32)],
  ['small numbers', times(20_000, () => random() * 1000)],
  ['all the same', times(5000, () => 0xffffffff)],
  ['many crowds', times(20_000, (i) => (i % 7) * 2 ** 29)],
  ['sorted', times(20_000, (i) => i * 1000)],
  ['one of all bits', Uint32Array.of(1, 0xffffffff, 0, 0x80000000, 1)],
])('words are put in order: %s', (_, words) => {
  // Of equal words a text decides; what is equal there, too, stays as it is.
  const beside = times(words.length, () => random() * 3);
  const order = new Uint32Array(words.length);
  orderOfWords(words, order, (a, b) => beside[a]! - beside[b]!);
  const expected = Array.from(words, (_, i) => i).sort(
    (a, b) => words[a]! - words[b]! || beside[a]! - beside[b]! || a - b,
  );
  expect(Array.from(order)).toEqual(expected);
});
