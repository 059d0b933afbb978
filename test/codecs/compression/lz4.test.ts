import { describe, expect, test } from '@jest/globals';
import { lz4Block, lz4BlockInto } from '../../../src/codecs/compression/lz4.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { lz4Literals } from '../../support/lz4-literals.ts';
import { words } from '../ciphers/words.ts';

const ascii = (value: string) => new Uint8Array(Buffer.from(value, 'latin1'));

/** "abc", then a match of 13 three bytes back, then the five literals that end every block. */
const repeated = Uint8Array.of(0x39, ...ascii('abc'), 3, 0, 0x50, ...ascii('hello'));

describe('lz4Block', () => {
  test('copies literals and an overlapping match', () => {
    expect(lz4Block(repeated, 21)).toEqual(ascii('abcabcabcabcabcahello'));
  });

  test('copies a match that does not overlap', () => {
    const block = Uint8Array.of(0x80, ...ascii('abcdefgh'), 8, 0, 0x10, ...ascii('!'));
    expect(lz4Block(block, 13)).toEqual(ascii('abcdefghabcd!'));
  });

  test('adds up lengths of several bytes', () => {
    const block = Uint8Array.of(0x1f, 0x7a, 1, 0, 255, 255, 3, 0x00);
    expect(lz4Block(block, 1 + 15 + 255 + 255 + 3 + 4)).toEqual(new Uint8Array(533).fill(0x7a));
  });

  test('takes an offset of two bytes', () => {
    const long = words(1000);
    const block = Uint8Array.of(...lz4Literals(long), 0xe8, 0x03, 0x10, 0x21);
    block[0]! |= 0x02;
    expect(lz4Block(block, 1007)).toEqual(Uint8Array.of(...long, ...long.subarray(0, 6), 0x21));
  });

  test('takes no bytes at all', () => {
    expect(lz4Block(Uint8Array.of(0), 0)).toEqual(new Uint8Array(0));
  });

  test.each([
    ['more output than promised, in literals', repeated, 20, 'E_FORMAT_RANGE'],
    ['more output than promised, in a match', repeated, 10, 'E_FORMAT_RANGE'],
    ['less output than promised', repeated, 22, 'E_FORMAT_TRUNCATED'],
    ['a promise that it cannot keep', repeated, 1e9, 'E_FORMAT_RANGE'],
    ['bytes left over', Uint8Array.of(...repeated, 0), 21, 'E_FORMAT'],
    ['a match before the start', Uint8Array.of(0x10, 0x61, 2, 0, 0x10, 0x61), 6, 'E_FORMAT_RANGE'],
    ['a match of offset zero', Uint8Array.of(0x10, 0x61, 0, 0, 0x10, 0x61), 6, 'E_FORMAT_RANGE'],
    ['an endless length', new Uint8Array(1000).fill(255), 100_000, 'E_FORMAT_TRUNCATED'],
    ['nothing', new Uint8Array(0), 0, 'E_FORMAT_TRUNCATED'],
  ])('refuses %s', (_case, block, size, code) => {
    expect(() => lz4Block(block, size)).toThrow(expect.objectContaining({ code }));
  });

  test('survives hostile input', () => {
    expectHostileSafe((bytes) => lz4Block(bytes, 21), repeated);
  });
});

test('lz4BlockInto reaches back into what stands before its target, and says where it ended', () => {
  const bytes = new Uint8Array(3 + 9);
  bytes.set(ascii('abc'));
  const block = Uint8Array.of(0x00, 3, 0, 0x50, ...ascii('hello'), 0xaa);
  expect(lz4BlockInto(block, 0, { bytes, start: 3, end: 12 })).toBe(block.length - 1);
  expect(bytes).toEqual(ascii('abcabcahello'));
});

test.each([0, 1, 14, 15, 16, 269, 270, 271, 1000])('lz4Literals of %i bytes decode', (size) => {
  expect(lz4Block(lz4Literals(words(size)), size)).toEqual(words(size));
});
