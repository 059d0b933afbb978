import { describe, expect, test } from '@jest/globals';
import { sortNumbers } from '../../../src/core/sorting/sort-numbers.ts';

/** The places of numbers in their order, equal ones as they come. */
function placesOf(numbers: Uint32Array): number[] {
  return Array.from(numbers, (_, i) => i).sort((a, b) => numbers[a]! - numbers[b]! || a - b);
}

describe('numbers', () => {
  test.each([
    ['none', () => 0, 0],
    ['one', () => 7, 1],
    ['equal ones', () => 0xffffffff, 300],
    ['of one byte, which is not the lowest', (i: number) => ((i * 7) % 5) << 16, 500],
    ['of all 32 bits, some of them equal', (i: number) => Math.imul(i % 4000, 0x9e3779b1) >>> 0, 5000],
  ])('%s are sorted where they are, and it is told where each of them was', (_, make, count) => {
    const numbers = Uint32Array.from({ length: count }, (_, i) => make(i));
    const [places, sorted] = [placesOf(numbers), numbers.slice().sort()];
    expect(Array.from(sortNumbers(numbers))).toEqual(places);
    expect(numbers).toEqual(sorted);
  });
});
