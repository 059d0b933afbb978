import { expect, test } from '@jest/globals';
import { parseRange } from '../../src/serve/byte-range.ts';

test.each([
  ['bytes=0-9', { start: 0, end: 10 }],
  ['bytes=10-19', { start: 10, end: 20 }],
  ['bytes=99-', { start: 99, end: 100 }],
  ['bytes=-1', { start: 99, end: 100 }],
  ['bytes=-500', { start: 0, end: 100 }],
  ['Bytes = 5-5 ', { start: 5, end: 6 }],
  // One byte too many, as a reader is known to ask: what there is.
  ['bytes=90-100', { start: 90, end: 100 }],
  ['bytes=0-999999999999999', { start: 0, end: 100 }],
])('%s of 100 bytes', (header, range) => {
  expect(parseRange(header, 100)).toEqual(range);
});

test.each([
  'bytes=100-',
  'bytes=100-200',
  'bytes=-0',
  'bytes=9-8',
  'bytes=',
  'bytes=-',
  'bytes=0-1,5-6',
  'bytes=a-b',
  'bytes=0x0-0x9',
  'bytes=1.5-2',
  'bytes=--5',
  'bytes=0-1; q',
  `bytes=0-${'9'.repeat(400)}`,
])('%s cannot be had', (header) => {
  expect(parseRange(header, 100)).toBe('unsatisfiable');
});

test('nothing of an empty file can be had', () => {
  for (const header of ['bytes=0-', 'bytes=0-0', 'bytes=-1']) expect(parseRange(header, 0)).toBe('unsatisfiable');
});

test.each([undefined, '', 'lines=1-2', 'by tes=0-1'])('%s asks for the whole', (header) => {
  expect(parseRange(header, 100)).toBeUndefined();
});
