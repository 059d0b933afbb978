import { describe, expect, test } from '@jest/globals';
import { zstdDecompress } from '../../../src/codecs/compression/zstd.ts';
import { fromHex } from '../../../src/core/bytes.ts';
import { expectHostileSafe } from '../../support/hostile.ts';

const text = new TextEncoder().encode('the quick brown fox jumps over the lazy dog, again and again; '.repeat(40));
/** Made by the reference tool: one that knows its size and has a checksum, and one made from a stream without either. */
const sized = fromHex(
  '28b52ffd64b00805020042430c11903d0650fa43e90fa5cfff5f4fd3d8991c0fe5893f25903840b05c6fd13ecd85a7d1d9f50ccf1f86739c1165e54d' +
    'aa0103006f0982c75b302c2c95073d115312',
);
const streamed = fromHex(
  '28b52ffd00582d0200740374686520717569636b2062726f776e20666f78206a756d7073206f76657220746865206c617a7920646f672c2061676169' +
    '6e20616e643b03006b098207a1c4b50e050a',
);

describe('zstd', () => {
  test('frames of the reference tool', () => {
    expect(zstdDecompress(sized, text.length, 'block')).toEqual(text);
    expect(zstdDecompress(streamed, text.length, 'block')).toEqual(text);
  });

  test.each([
    ['promises more than it has', sized, text.length + 1, 'E_FORMAT_RANGE'],
    ['promises less than it has', sized, text.length - 1, 'E_FORMAT_RANGE'],
    ['has less than promised, and did not say', streamed, text.length + 1, 'E_FORMAT_TRUNCATED'],
    ['has more than promised, and did not say', streamed, text.length - 1, /E_FORMAT/],
    ['is none', new Uint8Array(40), 10, 'E_FORMAT_MAGIC'],
    ['is cut', streamed.subarray(0, 40), text.length, /E_FORMAT/],
    ['is empty', new Uint8Array(0), 10, 'E_FORMAT_TRUNCATED'],
  ])('a frame that %s', (_what, bytes, size, code) => {
    expect(() => zstdDecompress(bytes, size, 'block')).toThrow(
      expect.objectContaining({ code: typeof code === 'string' ? code : expect.stringMatching(code) }),
    );
  });

  test('a frame with a window of a gigabyte is refused before it is made', () => {
    const wide = streamed.slice();
    wide[5] = (30 - 10) << 3;
    expect(() => zstdDecompress(wide, text.length, 'block')).toThrow(
      expect.objectContaining({ code: 'E_FORMAT_RANGE' }),
    );
  });

  test('hostile bytes', () => {
    expectHostileSafe((bytes) => zstdDecompress(bytes, text.length, 'block'), streamed, { prefixesFail: false });
  });
});
