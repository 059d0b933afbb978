import { expect, test } from '@jest/globals';
import { firstNot } from '../../../src/core/sorting/first-not.ts';

test('the first of which it does not hold, wherever that is, and with few looks where it is near', () => {
  for (const end of [0, 1, 2, 3, 7, 8, 9, 100]) {
    for (let from = 0; from <= end; from++) {
      for (let first = from; first <= end; first++) {
        const asked: number[] = [];
        expect(firstNot(from, end, (number) => asked.push(number) > 0 && number < first)).toBe(first);
        expect(asked.every((number) => number >= from && number < end)).toBe(true);
        expect(asked.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(first - from + 2)) + 1);
      }
    }
  }
});
