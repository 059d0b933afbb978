import { expect, test } from '@jest/globals';
import { didYouMean, nearest } from '../../../src/core/names/nearest.ts';

const commands = ['sync', 'status', 'cat', 'cdns', 'verify', 'versions', 'extract'];

test.each([
  ['synk', ['sync']],
  ['snyc', ['sync']],
  ['SYNC', ['sync']],
  ['ver', ['verify', 'versions']],
  ['exract', ['extract']],
  ['catt', ['cat']],
  ['frobnicate', []],
  ['', []],
])('%s may stand for %j', (word, expected) => {
  expect(nearest(word, commands)).toEqual(expected);
});

test('a word of a million letters costs no more than a short one', () => {
  expect(nearest('a'.repeat(1_000_000), ['b'.repeat(1_000_000)])).toEqual([]);
});

test('the question names them all, and is not asked without any', () => {
  expect(didYouMean(['a', 'b'])).toBe('Did you mean a or b?');
  expect(didYouMean([])).toBeUndefined();
});
