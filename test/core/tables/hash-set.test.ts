import { expect, test } from '@jest/globals';
import { HashSet, textHash } from '../../../src/core/tables/hash-set.ts';
import { randomSource } from '../../support/hostile.ts';

test('has what was added, each once, and nothing else', () => {
  const random = randomSource(5);
  const word = (): number => Math.floor(random() * 2 ** 32);
  const hashes = Array.from({ length: 20_000 }, () => [word(), word()] as const);
  const set = new HashSet();
  for (const [first, second] of [...hashes, ...hashes]) set.add(first, second);
  expect(set.size).toBe(20_000);
  expect(hashes.every(([first, second]) => set.has(first, second))).toBe(true);
  expect(hashes.some(([first, second]) => set.has(first, second ^ 1))).toBe(false);
});

test('takes a hash of zeros, and those that begin alike', () => {
  const set = new HashSet();
  expect(set.has(0, 0)).toBe(false);
  set.add(0, 0);
  for (let i = 2; i < 3000; i++) set.add(7, i);
  expect(set.size).toBe(2999);
  expect([set.has(0, 0), set.has(7, 2), set.has(7, 2999), set.has(7, 3000), set.has(0, 2)]).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

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
