import { describe, expect, test } from '@jest/globals';
import { formatBytes, formatCount, formatDuration, parseSize, plural } from '../../src/core/quantities.ts';

test.each([
  [0, '0 B'],
  [1, '1 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [1536, '1.5 KiB'],
  [10 * 1024, '10 KiB'],
  [1024 ** 2 - 1, '1.0 MiB'],
  [1.5 * 1024 ** 3, '1.5 GiB'],
  [200 * 1024 ** 4, '200 TiB'],
])('%d bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test('a count has its noun with it', () => {
  const files = [0, 1, 2, 1234].map((count) => plural(count, 'file', 'files'));
  expect(files).toEqual(['0 files', '1 file', '2 files', '1,234 files']);
});

describe('parseSize', () => {
  test.each([
    ['0', 0],
    ['500', 500],
    ['64K', 65_536],
    ['20M', 20 * 1024 ** 2],
    ['1.5G', 1.5 * 1024 ** 3],
    ['2tib', 2 * 1024 ** 4],
    [' 20 MB/s ', 20 * 1024 ** 2],
    ['7B', 7],
  ])('%j is %d bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  test.each(['', 'M', '-1', '1X', '1e9', '0x10', '1,5M', '99999999P', 'NaN', '20M20'])('%j is no size', (text) => {
    expect(() => parseSize(text)).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
  });
});

test.each([
  [0, '0.0 s'],
  [3.14, '3.1 s'],
  [9.97, '10 s'],
  [59.4, '59 s'],
  [59.6, '1 min'],
  [200, '3 min 20 s'],
  [3600, '1 h'],
  [3599.8, '1 h'],
  [3900, '1 h 5 min'],
  [51 * 3600, '2 d 3 h'],
  [Number.POSITIVE_INFINITY, 'unknown'],
])('%d seconds are %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
});

test('counts have commas', () => {
  expect([0, 999, 1000, 2_974_106].map(formatCount)).toEqual(['0', '999', '1,000', '2,974,106']);
});
