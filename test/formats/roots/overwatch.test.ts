import { expect, test } from '@jest/globals';
import { decodeOverwatchRoot, encodeOverwatchRoot, overwatchRootFormat } from '../../../src/formats/roots/overwatch.ts';
import { textRootFormat } from '../../../src/formats/roots/text.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeThrownBy, text } from '../text.ts';

const key = (digit: string) => digit.repeat(32);
const forms = {
  'build 24919': text(
    '#MD5|CHUNK_ID|FILENAME|INSTALLPATH',
    `${key('A')}|0|RetailClient/Overwatch.exe|Overwatch.exe`,
    '',
  ),
  'build 47161': text(
    '#FILEID|MD5|CHUNK_ID|PRIORITY|MPRIORITY|FILENAME|INSTALLPATH\r',
    `7|${key('a')}|0|1|255|RetailClient/Overwatch.exe|Overwatch.exe\r`,
    '\r',
    `8|${key('b')}|0|1|255|TactManifest/Win_SPWin_RDEV_LenUS_EExt.apm|`,
  ),
};

test.each(Object.entries(forms))('columns go by their names: %s', (_, bytes) => {
  expect([overwatchRootFormat.matches(bytes.subarray(0, 80)), textRootFormat.matches(bytes)]).toEqual([true, false]);
  expect(decodeOverwatchRoot(bytes).files[0]).toMatchObject({ name: 'RetailClient/Overwatch.exe', ckey: key('a') });
});

test('manifests, whose install path is empty, and columns that nobody knows', () => {
  const { columns, files } = decodeOverwatchRoot(forms['build 47161']);
  expect(files[1]).toMatchObject({ name: 'TactManifest/Win_SPWin_RDEV_LenUS_EExt.apm', ckey: key('b') });
  expect(files[1]!.values[columns.indexOf('MPRIORITY')]).toBe('255');
  expect(decodeOverwatchRoot(text('#NEW|MD5|FILENAME', `x|${key('c')}|a`)).files[0]).toMatchObject({
    name: 'a',
    ckey: key('c'),
  });
});

test('a table written again reads the same', () => {
  const root = decodeOverwatchRoot(forms['build 47161']);
  expect(decodeOverwatchRoot(encodeOverwatchRoot(root))).toEqual(root);
  expect(codeThrownBy(() => encodeOverwatchRoot({ columns: ['A', 'B'], files: [{ values: ['x'] }] }))).toBe(
    'E_FORMAT_RANGE',
  );
  expect(codeThrownBy(() => encodeOverwatchRoot({ columns: ['A'], files: [{ values: ['x|y'] }] }))).toBe(
    'E_FORMAT_RANGE',
  );
});

test('lines that are no files are named', () => {
  for (const line of [`${key('a')}|b|c`, `${key('a')}|`, `${key('z')}|b`, 'x'.repeat(5000)]) {
    const bytes = text('#MD5|FILENAME', `${key('a')}|ok`, line);
    expect(codeThrownBy(() => decodeOverwatchRoot(bytes))).toBe('E_FORMAT');
    expect(() => decodeOverwatchRoot(bytes)).toThrow(/line 3/);
  }
  expect(codeThrownBy(() => decodeOverwatchRoot(text('#MD5|NAME')))).toBe('E_FORMAT');
});

test('hostile bytes', () => {
  for (const bytes of Object.values(forms)) expectHostileSafe(decodeOverwatchRoot, bytes, { prefixesFail: false });
});
