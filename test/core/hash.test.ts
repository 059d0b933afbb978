import { expect, test } from '@jest/globals';
import { toHex } from '../../src/core/bytes.ts';
import { md5, md5Hasher, md5Hex, seededHash, sha1, sha256 } from '../../src/core/hash.ts';

const abc = new TextEncoder().encode('abc');

// The test vectors of RFC 1321 and FIPS 180.
test('hashes are those of the standards', () => {
  expect(md5Hex(abc)).toBe('900150983cd24fb0d6963f7d28e17f72');
  expect(toHex(md5(abc))).toBe(md5Hex(abc));
  expect(toHex(sha1(abc))).toBe('a9993e364706816aba3e25717850c26c9cd0d89d');
  expect(toHex(sha256(abc))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test('bytes in pieces hash as all at once', () => {
  const hasher = md5Hasher();
  hasher.update(abc.subarray(0, 1));
  hasher.update(abc.subarray(1));
  expect(toHex(hasher.digest())).toBe(md5Hex(abc));
});

test('texts that are nearly the same, or are hashed with another seed, have hashes of which half the bits differ', () => {
  const bits = (word: number): string => word.toString(2).padStart(32, '0');
  const differing = (a: number, b: number): number => [...bits((a ^ b) >>> 0)].filter((bit) => bit === '1').length / 32;
  const texts = Array.from({ length: 1000 }, (_, i) => `world/zone${i % 10}/asset_${i}.m2`);
  const [ones, others] = [1, 0x80000000].map((seed) => texts.map((text) => seededHash(text, seed))) as [
    number[],
    number[],
  ];
  expect(new Set(ones).size).toBe(texts.length);
  const mean = (parts: number[]): number => parts.reduce((sum, part) => sum + part) / parts.length;
  const alike = ones.slice(1).map((hash, i) => differing(hash, ones[i]!));
  const seeded = ones.map((hash, i) => differing(hash, others[i]!));
  for (const part of [mean(alike), mean(seeded)]) {
    expect(part).toBeGreaterThan(0.45);
    expect(part).toBeLessThan(0.55);
  }
});
