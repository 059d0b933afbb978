import { describe, expect, test } from '@jest/globals';
import { decodeTextRoot, encodeTextRoot, type TextRootRow, textRootFormat } from '../../../src/formats/roots/text.ts';
import { describeConformance } from '../../support/conformance.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeThrownBy } from '../text.ts';
import { makeSyntheticCdn } from './synthetic-cdn.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const key = (digit: string) => digit.repeat(32);

describeConformance('text roots of an independent generator', () => {
  test('every row of the truth table, with its locale as a folder', () => {
    const cdn = makeSyntheticCdn('--layout', 'text', '--files', '150', '--total-bytes', '300K');
    try {
      for (const which of ['a', 'b'] as const) {
        const { root } = cdn.summary[`build_${which}`];
        const text = cdn.object(root![1]);
        expect(textRootFormat.matches(text.subarray(0, 4096))).toBe(true);
        const wanted = cdn
          .truth(`build-${which}`)
          .filter((row) => row.locale !== '#lowviolence')
          .map(({ locale, name, ckey }) => `${locale === '-' ? '' : `${locale}/`}${name} ${ckey}`);
        const found = decodeTextRoot(text).rows.map(({ path, ckey }) => `${path.replaceAll('\\', '/')} ${ckey}`);
        expect(found.sort()).toEqual(wanted.sort());
        expect(found.length).toBeGreaterThan(150);
      }
    } finally {
      cdn.remove();
    }
  });
});

describe('the forms of text roots', () => {
  test('StarCraft Remastered: two columns, and the older locale behind a colon', () => {
    const text = `#HD2/anim/main_000.anim|${key('a')}\n\nlocales/enUS/Assets/a.ogg|${key('B')}\r\nSD/x.dds:deDE|${key('c')}\n`;
    expect(decodeTextRoot(bytes(text)).rows).toEqual([
      { path: 'HD2/anim/main_000.anim', ckey: key('a') },
      { path: 'locales/enUS/Assets/a.ogg', ckey: key('b') },
      { path: 'SD/x.dds', ckey: key('c'), locale: 'deDE' },
    ]);
  });

  test('Warcraft III 1.30: archives in archives, locales that may be empty, flags', () => {
    const text = `war3.mpq:units\\unitdata.slk|${key('1')}|\nenus-war3local.mpq:maps\\a.w3x:war3map.j|${key('2')}|enUS\nx|${key('3')}||7\n`;
    expect(decodeTextRoot(bytes(text)).rows).toEqual([
      { path: 'war3.mpq:units\\unitdata.slk', ckey: key('1') },
      { path: 'enus-war3local.mpq:maps\\a.w3x:war3map.j', ckey: key('2'), locale: 'enUS' },
      { path: 'x', ckey: key('3'), flags: '7' },
    ]);
  });

  test('what else is not taken for one', () => {
    const isText = (text: string) => textRootFormat.matches(bytes(text));
    expect(isText(`a|${key('1')}`)).toBe(true);
    expect(isText(`a|${key('1')}|enUS|0|more`)).toBe(false);
    expect(isText(`#MD5|CHUNK_ID|FILENAME|INSTALLPATH\n${key('1')}|0|a|`)).toBe(false);
    for (const other of ['', 'TVFS', key('1'), `|${key('1')}`, `a|${key('g')}`, `a\0|${key('1')}`])
      expect(isText(other)).toBe(false);
  });

  test('every row is checked, and its line named', () => {
    const refused = (line: string) => {
      const text = bytes(`a|${key('1')}\n${line}\n`);
      expect(codeThrownBy(() => decodeTextRoot(text))).toMatch(/^E_FORMAT/);
      expect(() => decodeTextRoot(text)).toThrow(/line 2/);
    };
    for (const line of ['b', `b|${key('1').slice(1)}`, `b|${key('z')}`, `|${key('1')}`, `b|${key('1')}|enUS|0|x`])
      refused(line);
    refused(`${'b'.repeat(5000)}|${key('1')}`);
  });
});

describe('round trip', () => {
  const rows: TextRootRow[] = [
    { path: 'a/b.txt', ckey: key('0') },
    { path: 'war3.mpq:units\\ü.slk', ckey: key('1'), locale: 'enUS' },
    { path: 'c', ckey: key('2'), flags: 'x y' },
    { path: 'd', ckey: key('3'), locale: 'frFR', flags: '' },
  ];

  test('rows come back as they were', () => {
    expect(decodeTextRoot(encodeTextRoot({ rows })).rows).toEqual(rows);
    expect(decodeTextRoot(encodeTextRoot({ rows: [] })).rows).toEqual([]);
  });

  test('what no line can hold is refused', () => {
    const bad: Partial<TextRootRow>[] = [
      { path: '' },
      { path: 'a|b' },
      { path: 'a\nb' },
      { path: '#a' },
      { path: 'a:enUS' },
      { ckey: 'x' },
    ];
    for (const change of bad)
      expect(codeThrownBy(() => encodeTextRoot({ rows: [{ ...rows[0]!, ...change }] }))).toBe('E_FORMAT_RANGE');
  });

  test('hostile bytes', () => {
    expectHostileSafe(decodeTextRoot, encodeTextRoot({ rows }), { prefixesFail: false });
    expectHostileSafe(textRootFormat.matches, encodeTextRoot({ rows }), { prefixesFail: false });
  });
});
