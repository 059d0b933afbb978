import { deflateSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { inflate } from '../../../src/codecs/compression/inflate.ts';
import { giveBack, giveBackOwn, largeBytes, ReusedBytes } from '../../../src/core/tables/large-bytes.ts';

const MiB = 1 << 20;

test.each([0, 5, MiB - 1, MiB, 5 * MiB + 1, 33 * MiB - 1, 33 * MiB, 34 * MiB])('%i bytes, all of them 0', (size) => {
  const bytes = largeBytes(size);
  expect(bytes).toHaveLength(size);
  expect(bytes.byteOffset).toBe(0);
  expect(Buffer.alloc(size).equals(bytes)).toBe(true);
});

test('a table lies in a stretch of more than 32 MiB, and small or very large bytes in one of their own', () => {
  expect(largeBytes(2 * MiB).buffer.byteLength).toBe(33 * MiB);
  expect(largeBytes(1000).buffer.byteLength).toBe(1000);
  expect(largeBytes(40 * MiB).buffer.byteLength).toBe(40 * MiB);
});

test('memory that is taken again is the same, as long as it is enough', () => {
  const memory = new ReusedBytes();
  const first = memory.take(100).fill(7);
  const second = memory.take(60);
  expect(second).toEqual(first.subarray(0, 60));
  second[0] = 8;
  expect(first[0]).toBe(8);
  expect(memory.take(1000)).toHaveLength(1000);
});

test('memory that is taken again and again can be given back', () => {
  const memory = new ReusedBytes();
  memory.take(64 * MiB).fill(1);
  const before = process.memoryUsage().arrayBuffers;
  memory.giveBack();
  expect(before - process.memoryUsage().arrayBuffers).toBeGreaterThan(60 * MiB);
  expect([...memory.take(3)]).toEqual([0, 0, 0]);
});

test('memory that is given back is free at once, and its table empty', () => {
  const tables = Array.from({ length: 4 }, () => largeBytes(40 * MiB).fill(1));
  const before = process.memoryUsage();
  giveBack(...tables);
  const after = process.memoryUsage();
  expect(tables.map(({ length }) => length)).toEqual([0, 0, 0, 0]);
  // What is resident may stay: where the C library has a free piece that is large enough, it cuts from it, and the freed table goes back into it.
  expect(before.arrayBuffers - after.arrayBuffers).toBeGreaterThan(150 * MiB);
  // Again, and of nothing.
  giveBack(largeBytes(MiB));
  giveBack();
});

test('of what was inflated only that is given back which shares its memory with nothing', () => {
  const neighbour = Buffer.allocUnsafe(100).fill(7);
  for (const size of [1, 63, 100, 2000, 5000, 30_000, 40_000, 65_536, 300_000]) {
    const content = Buffer.alloc(size, 3);
    const bytes = inflate(deflateSync(content), { size, maxSize: size, what: 'test' });
    expect(content.equals(bytes)).toBe(true);
    giveBackOwn(bytes);
    expect([0, size]).toContain(bytes.length);
    if (size >= 65_536) expect(bytes).toHaveLength(0);
    expect(neighbour.every((byte) => byte === 7)).toBe(true);
    expect(Buffer.allocUnsafe(100).fill(5)).toHaveLength(100);
  }
});
