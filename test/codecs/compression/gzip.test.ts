import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { gunzip } from '../../../src/codecs/compression/inflate.ts';
import { expectHostileSafe } from '../../support/hostile.ts';

const text = new TextEncoder().encode('hello hello hello hello '.repeat(100));
const file = new Uint8Array(gzipSync(text));

test('gives what was compressed', () => {
  expect(gunzip(file, text.length, 'block')).toEqual(text);
  expect(gunzip(new Uint8Array(gzipSync(new Uint8Array(0))), 0, 'block')).toHaveLength(0);
});

test.each([
  [text.length - 1, file, 'E_FORMAT_RANGE'],
  [text.length + 1, file, 'E_FORMAT_TRUNCATED'],
  [1 << 30, file, 'E_FORMAT_RANGE'],
  [text.length, file.subarray(0, 30), 'E_FORMAT_TRUNCATED'],
  [text.length, new Uint8Array(64), 'E_FORMAT'],
])('a promise of %d bytes that is not kept', (size, bytes, code) => {
  expect(() => gunzip(bytes, size, 'block')).toThrow(expect.objectContaining({ code }));
});

test('a bomb stops at what was promised', () => {
  const bomb = new Uint8Array(gzipSync(new Uint8Array(64 << 20)));
  expect(() => gunzip(bomb, 65536, 'block')).toThrow(expect.objectContaining({ code: 'E_FORMAT_RANGE' }));
});

test('hostile bytes', () => {
  expectHostileSafe((bytes) => gunzip(bytes, text.length, 'block'), file);
});
