import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { KeySet } from '../../../src/core/tables/key-set.ts';

test('numbers keys in the order in which they come, each once, and finds none but those', () => {
  const count = 5000;
  const bytes = randomBytes(count * 16);
  const keys = new KeySet();
  for (let i = 0; i < count; i++) {
    expect(keys.find(bytes, i * 16)).toBe(-1);
    keys.add(bytes, i * 16);
    keys.add(bytes, Math.floor(i / 2) * 16);
  }
  expect(keys.count).toBe(count);
  for (let i = 0; i < count; i++) {
    expect(keys.find(bytes, i * 16)).toBe(i);
    expect(Buffer.compare(keys.at(i), bytes.subarray(i * 16, i * 16 + 16))).toBe(0);
  }
});

test('tells keys apart that differ in one bit, and takes one of zeros', () => {
  const keys = new KeySet();
  keys.add(new Uint8Array(16), 0);
  for (let bit = 0; bit < 128; bit++) {
    const key = new Uint8Array(20);
    key[4 + (bit >> 3)] = 1 << (bit & 7);
    expect(keys.find(key, 4)).toBe(-1);
    keys.add(key, 4);
  }
  expect(keys.count).toBe(129);
  expect(keys.find(new Uint8Array(16), 0)).toBe(0);
});
