import { expect, test } from '@jest/globals';
import { unusedSpace } from '../../src/paks/unused-space.ts';

test.each<[string, [number, number][], number, number, number]>([
  ['nothing in it', [], 10, 10, 1],
  ['all of it used', [[0, 10]], 10, 0, 0],
  [
    'parts behind each other',
    [
      [4, 10],
      [0, 4],
    ],
    10,
    0,
    0,
  ],
  [
    'a gap in front, between and behind',
    [
      [2, 4],
      [6, 8],
    ],
    10,
    6,
    3,
  ],
  [
    'parts that overlap',
    [
      [0, 6],
      [2, 4],
      [5, 9],
    ],
    10,
    1,
    1,
  ],
  [
    'one in another, then a gap',
    [
      [0, 9],
      [1, 2],
      [10, 12],
    ],
    12,
    1,
    1,
  ],
  [
    'parts past the end, and empty ones',
    [
      [0, 4],
      [5, 5],
      [8, 99],
      [50, 60],
    ],
    10,
    4,
    1,
  ],
])('%s', (_label, parts, size, unusedBytes, fragments) => {
  expect(unusedSpace(parts, size)).toEqual({ unusedBytes, fragments });
});

/** The same by marking each byte. */
function byBytes(parts: readonly [number, number][], size: number) {
  const used = new Uint8Array(size);
  for (const [start, end] of parts) used.fill(1, start, end);
  const starts = used.filter((byte, i) => byte === 0 && (i === 0 || used[i - 1] === 1));
  return { unusedBytes: used.filter((byte) => byte === 0).length, fragments: starts.length };
}

test('any parts, against a mark for each byte', () => {
  let state = 1;
  const next = (limit: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state % limit;
  };
  for (let round = 0; round < 300; round++) {
    const parts = Array.from({ length: next(8) }, (): [number, number] => {
      const start = next(60);
      return [start, start + next(20)];
    });
    expect(unusedSpace(parts, 64)).toEqual(byBytes(parts, 64));
  }
});
