import { describe, expect, test } from '@jest/globals';
import { decodeKeyList, decodeKeyRing, encodeKeyList } from '../../../src/formats/configs/key-list.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeThrownBy, htmlPage, text } from '../text.ts';

describe('a key list', () => {
  test('has a key a line, comments, blank lines and fields for later', () => {
    const list = text(
      '# keys',
      '',
      'FA505078126ACB3E BDC51862ABED79B2DE48C8E7E66C6200',
      '  # another',
      'ff813f7d062ac0bc\taa0b5c77f088ccc2d39049bd267f066d  extra fields\r',
      '',
    );
    expect(decodeKeyList(list)).toEqual([
      { name: 'fa505078126acb3e', key: 'bdc51862abed79b2de48c8e7e66c6200' },
      { name: 'ff813f7d062ac0bc', key: 'aa0b5c77f088ccc2d39049bd267f066d', extra: ['extra', 'fields'] },
    ]);
    expect(new TextDecoder().decode(encodeKeyList(decodeKeyList(list)))).toBe(
      'FA505078126ACB3E BDC51862ABED79B2DE48C8E7E66C6200\nFF813F7D062AC0BC AA0B5C77F088CCC2D39049BD267F066D extra fields\n',
    );
    expect(decodeKeyList(new Uint8Array(0))).toEqual([]);
  });

  test('names the line that is no key', () => {
    expect(() => decodeKeyList(text('# x', 'FA505078126ACB3E BDC5'))).toThrow('line 2');
    for (const bad of [
      'FA505078126ACB3E',
      'FA505078126ACB3EBDC51862ABED79B2DE48C8E7E66C6200',
      `${'G'.repeat(16)} ${'a'.repeat(32)}`,
    ]) {
      expect(codeThrownBy(() => decodeKeyList(text(bad)))).toBe('E_FORMAT');
    }
    expect(codeThrownBy(() => decodeKeyList(htmlPage))).toBe('E_FORMAT');
  });

  test('survives anything', () => {
    expectHostileSafe(decodeKeyList, text('FA505078126ACB3E BDC51862ABED79B2DE48C8E7E66C6200 x', ''), {
      prefixesFail: false,
    });
  });
});

describe('a key ring', () => {
  test('writes names as on the wire: they come out as lists print them', () => {
    const ring = text('key-3ecb6a12785050fa = bdc51862abed79b2de48c8e7e66c6200');
    expect(decodeKeyRing(ring)).toEqual(decodeKeyList(text('FA505078126ACB3E BDC51862ABED79B2DE48C8E7E66C6200')));
  });

  test('is refused when a line is no key', () => {
    for (const bad of ['root = 1', 'key-12 = 34', `key-3ecb6a12785050fa = ${'g'.repeat(32)}`]) {
      expect(codeThrownBy(() => decodeKeyRing(text(bad)))).toBe('E_FORMAT');
    }
    expect(codeThrownBy(() => decodeKeyRing(htmlPage))).toBe('E_FORMAT');
  });
});
