import { describe, expect, test } from '@jest/globals';
import { isPakratError } from '../../../src/core/errors.ts';
import { ContentFlags, localeFallback, localeFlag, localeNames } from '../../../src/formats/roots/locale.ts';

describe('locales', () => {
  test('a name gives its bit, in any case of letters', () => {
    expect(localeFlag('enUS')).toBe(0x2);
    expect(localeFlag('ptPT')).toBe(0x10000);
    expect(localeFlag('dede')).toBe(0x20);
  });

  test('the word of a real root for all languages names all thirteen', () => {
    expect(localeNames(0x1f3f6)).toEqual([
      'enUS',
      'koKR',
      'frFR',
      'deDE',
      'zhCN',
      'esES',
      'zhTW',
      'enGB',
      'esMX',
      'ruRU',
      'ptBR',
      'itIT',
      'ptPT',
    ]);
    expect(localeNames(0)).toEqual([]);
  });

  test('every name that comes back goes in again', () => {
    const bits = localeNames(0xffffffff).map((name) => localeFlag(name));
    expect(bits.reduce((all, bit) => all | bit, 0)).toBe(0x1fff6);
  });

  test.each(['', 'xxXX', '__proto__', 'constructor', 'enUS '])(
    '%j is refused, and the known names are told',
    (name) => {
      try {
        localeFlag(name);
      } catch (error) {
        expect(isPakratError(error) && error.code).toBe('E_USAGE');
        expect(isPakratError(error) && error.hint).toContain('enUS, koKR');
        return;
      }
      throw new Error('taken');
    },
  );

  test('British English falls back to American, European Portuguese to Brazilian, nothing else', () => {
    expect(localeFallback('enGB')).toBe('enUS');
    expect(localeFallback('ptPT')).toBe('ptBR');
    expect(localeFallback('deDE')).toBeUndefined();
  });
});

test('content flags of a real block read as they should', () => {
  const real = 0x12080080;
  expect(real & ContentFlags.lowViolence).not.toBe(0);
  expect(real & ContentFlags.noNameHash).not.toBe(0);
  expect(real & ContentFlags.encrypted).toBe(0);
});
