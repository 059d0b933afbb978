import { expect, test } from '@jest/globals';
import { deflateExact } from '../../../src/codecs/compression/deflate-exact.ts';
import { inflate } from '../../../src/codecs/compression/inflate.ts';
import { md5Hex } from '../../../src/core/hash.ts';

const text = new TextEncoder().encode('the same bytes everywhere, the same bytes again; '.repeat(100));

// What zlib 1.2.13 makes (python3, zlib.compressobj).
test.each([
  [1, 15, '0f2d3295afceb433259af98e48e2b906'],
  [6, 15, '251c0608ce01146bac96177d0cb2d1f3'],
  [9, 12, '86027994fa0759f3e81653d5ce31a863'],
])('level %i with a window of %i bits makes the bytes of the original zlib', (level, windowBits, expected) => {
  const stream = deflateExact(text, { level, windowBits });
  expect(md5Hex(stream)).toBe(expected);
  expect(inflate(stream, { size: text.length, maxSize: text.length, what: 'test' })).toEqual(text);
});
