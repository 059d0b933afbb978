import { expect, test } from '@jest/globals';
import { decodeConfig, encodeConfig } from '../../../src/formats/configs/config-file.ts';
import { decodeKeyLayouts, encodeKeyLayouts, keyOfPlace, placeOfKey } from '../../../src/formats/local/key-layout.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeOf } from '../../support/thrown-code.ts';

const config = (...lines: string[]) =>
  decodeConfig(new TextEncoder().encode(`# Static Build Configuration\n${lines.join('\n')}\n`));
const usual = decodeKeyLayouts(config('key-layout-index-bits = 0', 'key-layout-0 = 8 8 40 1'))!;
const several = decodeKeyLayouts(
  config('key-layout-index-bits = 2', 'key-layout-1 = 4 20 30 4096', 'key-layout-3 = 10 44 0 0'),
)!;

test('the place in a key that a player of Diablo II: Resurrected published', () => {
  const place = placeOfKey('60c6f4edb027e645e3000100178fa4f6', usual);
  expect(place).toEqual({ layout: 0, chunk: 0, archive: 1, offset: 0x178fa4f6 });
  expect(placeOfKey('b2aa4ad9d284dd1492000e00004fc499', usual)).toEqual({
    layout: 0,
    chunk: 0,
    archive: 14,
    offset: 0x4fc499,
  });
  expect(keyOfPlace('60c6f4edb027e645e3', place, usual)).toBe('60c6f4edb027e645e3000100178fa4f6');
});

test('several layouts: the highest bits choose, offsets have units', () => {
  const place = { layout: 1, chunk: 9, archive: 0xabcde, offset: 4096 * 77 };
  const key = keyOfPlace('00112233445566778899', place, several);
  // 01 | 1001 | 1010 1011 1100 1101 1110 | 77 in 30 bits
  expect(key).toBe(
    `001122334455667788${((1n << 54n) | (9n << 50n) | (0xabcden << 30n) | 77n).toString(16).padStart(14, '0')}`,
  );
  expect(placeOfKey(key, several)).toEqual(place);
  const whole = { layout: 3, chunk: 1023, archive: 2 ** 43 + 1, offset: 0 };
  expect(placeOfKey(keyOfPlace('0'.repeat(18), whole, several), several)).toEqual(whole);
});

test('an ordinary build has no layouts; lines come back as they were', () => {
  expect(decodeKeyLayouts(config('encoding = 00'))).toBeUndefined();
  expect(decodeKeyLayouts(decodeConfig(encodeConfig({ entries: encodeKeyLayouts(several) })))).toEqual(several);
});

test('what is not a layout is refused', () => {
  const decode =
    (...lines: string[]) =>
    () =>
      decodeKeyLayouts(config('key-layout-index-bits = 1', ...lines));
  expect(codeOf(decode())).toBe('E_FORMAT');
  expect(codeOf(decode('key-layout-2 = 8 8 8'))).toBe('E_FORMAT');
  expect(codeOf(decode('key-layout-0 = 8 8'))).toBe('E_FORMAT');
  expect(codeOf(decode('key-layout-0 = 8 x 8'))).toBe('E_FORMAT');
  expect(codeOf(decode('key-layout-0 = 8 8 40'))).toBe('E_FORMAT_RANGE');
  expect(codeOf(() => placeOfKey('60c6f4edb027e645e3', usual))).toBe('E_FORMAT_RANGE');
  expect(codeOf(() => placeOfKey('0'.repeat(32), several))).toBe('E_UNSUPPORTED');
  expect(codeOf(() => keyOfPlace('0'.repeat(32), { layout: 0, chunk: 256, archive: 0, offset: 0 }, usual))).toBe(
    'E_FORMAT_RANGE',
  );
});

test('whatever comes is told or refused', () => {
  const valid = encodeConfig({ entries: encodeKeyLayouts(several) });
  const key = '60c6f4edb027e645e3000100178fa4f6';
  const decode = (bytes: Uint8Array): unknown => {
    const layouts = decodeKeyLayouts(decodeConfig(bytes));
    return layouts && placeOfKey(key, layouts);
  };
  expectHostileSafe((bytes) => codeOf(() => decode(bytes)).startsWith('stray') && decode(bytes), valid, {
    prefixesFail: false,
  });
});
