import { expect, test } from '@jest/globals';
import { textHash } from '../../../src/core/names/text-hash.ts';

test('texts that are nearly the same have hashes of which half the bits differ', () => {
  const bitsOf = (text: string): string =>
    textHash(text)
      .map((word) => word.toString(2).padStart(32, '0'))
      .join('');
  const texts = Array.from({ length: 1000 }, (_, i) => `world/zone${i % 10}/asset_${i}.m2`);
  const all = texts.map(bitsOf);
  expect(new Set(all).size).toBe(texts.length);
  let differing = 0;
  for (let i = 1; i < all.length; i++)
    differing += [...all[i]!].filter((bit, at) => bit !== all[i - 1]![at]).length / 64 / (all.length - 1);
  expect(differing).toBeGreaterThan(0.45);
  expect(differing).toBeLessThan(0.55);
});
