import { describe, expect, test } from '@jest/globals';
import { decodePatchConfig } from '../../../src/formats/configs/patch-config.ts';
import { codeThrownBy, htmlPage, text } from '../text.ts';

const key = (digit: string): string => digit.repeat(32);

describe('a patch config', () => {
  test('gives every manifest and the patches that lead to it', () => {
    const config = decodePatchConfig(
      text(
        `patch = ${key('1')}`,
        'patch-size = 22837',
        `patch-entry = encoding ${key('2')} 100 ${key('3')} 90 b:{22=n,*=z} ${key('4')} 98 ${key('5')} 12 ${key('6')} 97 ${key('7')} 13`,
        `patch-entry = size ${key('8')} 50 ${key('9')} 40`,
      ),
    );
    expect(config).toMatchObject({ patch: key('1'), patchSize: 22837 });
    expect(config.entries.map(({ type, size, espec }) => [type, size, espec])).toEqual([
      ['encoding', 100, 'b:{22=n,*=z}'],
      ['size', 50, ''],
    ]);
    expect(config.entries[0]!.patches).toEqual([
      { sourceEkey: key('4'), sourceSize: 98, patchEkey: key('5'), patchSize: 12 },
      { sourceEkey: key('6'), sourceSize: 97, patchEkey: key('7'), patchSize: 13 },
    ]);
    expect(config.entries[1]!.patches).toEqual([]);
  });

  test('is refused when an entry is cut short', () => {
    const cut = [
      `patch-entry = encoding ${key('2')} 100`,
      `patch-entry = size ${key('2')} 1 ${key('3')} 1 z ${key('4')} 98 ${key('5')}`,
    ];
    for (const bad of cut) expect(codeThrownBy(() => decodePatchConfig(text(bad)))).toBe('E_FORMAT');
    expect(codeThrownBy(() => decodePatchConfig(htmlPage))).toBe('E_FORMAT');
  });
});
