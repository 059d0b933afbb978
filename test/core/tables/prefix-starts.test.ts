import { expect, test } from '@jest/globals';
import { prefixAt, prefixStarts } from '../../../src/core/tables/prefix-starts.ts';

test('records of a prefix end where those of the next start', () => {
  const records = Uint8Array.of(0, 0, 9, 1, 2, 8, 1, 2, 7, 255, 255, 6);
  const starts = prefixStarts(records, 3);
  expect(starts).toHaveLength(65_537);
  expect([0, 1, 0x102, 0x103, 0xffff, 0x10000].map((prefix) => starts[prefix])).toEqual([0, 1, 1, 3, 3, 4]);
  expect(prefixAt(records, 3)).toBe(0x102);
});
