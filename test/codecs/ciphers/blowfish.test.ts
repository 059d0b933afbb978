import { describe, expect, test } from '@jest/globals';
import { blowfishDecrypt, blowfishEncrypt, blowfishKey } from '../../../src/codecs/ciphers/blowfish.ts';
import { fromHex } from '../../../src/core/bytes.ts';

/** Words of hex as the published vectors have them, big-endian, in the order of bytes that the game uses. */
function swapWords(hex: string): Uint8Array {
  const bytes = fromHex(hex);
  const swapped = bytes.slice();
  for (let i = 0; i < bytes.length; i++) swapped[i] = bytes[(i & ~3) + 3 - (i & 3)]!;
  return swapped;
}

function wordsOf(hex: string): Uint32Array {
  return Uint32Array.from([hex.slice(0, 8), hex.slice(8)], (word) => Number.parseInt(word, 16));
}

function hexOf(words: Uint32Array): string {
  return [...words].map((word) => word.toString(16).padStart(8, '0')).join('');
}

describe('Blowfish', () => {
  // Eric Young's vectors, as Schneier publishes them.
  test.each([
    ['0000000000000000', '0000000000000000', '4ef997456198dd78'],
    ['ffffffffffffffff', 'ffffffffffffffff', '51866fd5b85ecb8a'],
    ['3000000000000000', '1000000000000001', '7d856f9a613063f2'],
    ['1111111111111111', '1111111111111111', '2466dd878b963c9d'],
    ['0123456789abcdef', '1111111111111111', '61f9c3802281b096'],
    ['fedcba9876543210', '0123456789abcdef', '0aceab0fc6a0a28d'],
    ['7ca110454a1a6e57', '01a1d6d039776742', '59c68245eb05282b'],
  ])('published vector of key %s, words in the order of the game', (key, plain, cipher) => {
    const schedule = blowfishKey(swapWords(key));
    const block = wordsOf(plain);
    blowfishEncrypt(schedule, block);
    expect(hexOf(block)).toBe(cipher);
    blowfishDecrypt(schedule, block);
    expect(hexOf(block)).toBe(plain);
  });

  test('a key of 16 bytes (the published vector with a longer key)', () => {
    const schedule = blowfishKey(swapWords('f0e1d2c3b4a5968778695a4b3c2d1e0f'));
    const block = wordsOf('fedcba9876543210');
    blowfishEncrypt(schedule, block);
    expect(hexOf(block)).toBe('93142887ee3be15c');
  });

  test('8 rounds have 10 subkeys, undo themselves and differ from 16', () => {
    const key = fromHex('000102030405060708090a0b0c0d0e0f');
    const eight = blowfishKey(key, 8);
    expect(eight.p).toHaveLength(10);
    const block = Uint32Array.of(1, 2);
    blowfishEncrypt(eight, block);
    const other = Uint32Array.of(1, 2);
    blowfishEncrypt(blowfishKey(key, 16), other);
    expect(hexOf(block)).not.toBe(hexOf(other));
    blowfishDecrypt(eight, block);
    expect([...block]).toEqual([1, 2]);
  });

  test.each([0, 3, 5, 60])('a key of %i bytes is refused', (size) => {
    expect(() => blowfishKey(new Uint8Array(size))).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
  });
});
