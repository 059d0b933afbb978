import { expect, test } from '@jest/globals';
import { openRangeReader } from '../../../src/sources/mount/range-reader.ts';
import type { Source, SourceEntry } from '../../../src/sources/source.ts';

const size = 20 << 20;
const content = Uint8Array.from({ length: size }, (_, i) => (i * 31 + (i >> 13)) & 255);
const entry: SourceEntry = { name: 'x', size, facts: {} };

function streaming(): { source: Source; starts: () => number } {
  let starts = 0;
  const source = {
    async *read() {
      starts += 1;
      for (let at = 0; at < size; at += 100_000) yield content.subarray(at, at + 100_000);
    },
  };
  return { source: source as unknown as Source, starts: () => starts };
}

test('a source without ranges is read along the file once, and again from its start when somebody goes back', async () => {
  const { source, starts } = streaming();
  const reader = openRangeReader(source, entry);
  for (let at = 0; at < size; at += 131_072) {
    expect(Buffer.compare(await reader.read(at, 131_072), content.subarray(at, at + 131_072))).toBe(0);
  }
  expect(await reader.read(size - 5, 100)).toEqual(content.slice(-5));
  expect(await reader.read(size, 100)).toEqual(new Uint8Array(0));
  // What was just read is still there.
  await reader.read(size - (4 << 20), 1000);
  expect(starts()).toBe(1);
  expect(await reader.read(7, 9)).toEqual(content.slice(7, 16));
  expect(starts()).toBe(2);
});

test('reads that come at the same time each get their own', async () => {
  const reader = openRangeReader(streaming().source, entry);
  const offsets = [9 << 20, 3, 12 << 20, 1 << 20];
  const parts = await Promise.all(offsets.map((at) => reader.read(at, 50)));
  expect(parts).toEqual(offsets.map((at) => content.slice(at, at + 50)));
});

test.each([
  ['in its middle', 3_000_000],
  ['behind its last byte, where the whole is wrong', size],
  ['at its start', 0],
])('a file that fails %s fails for every read that needs it, and does not end there', async (_, until) => {
  const source = {
    async *read() {
      yield content.subarray(0, until);
      throw new Error('damaged');
    },
  } as unknown as Source;
  const reader = openRangeReader(source, { ...entry, size: until });
  for (const at of [0, 0, until - 10, 0, until])
    await expect(
      reader.read(Math.max(at, 0), 4096).then(
        () => 'bytes',
        () => 'error',
      ),
    ).resolves.toBe(
      // Of a large file what lies far in front is given out before its end is seen.
      until > 8 << 20 && at === 0 ? 'bytes' : 'error',
    );
});
