import { describe, expect, test } from '@jest/globals';
import { decodeConfig, encodeConfig } from '../../../src/formats/configs/config-file.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeThrownBy, htmlPage, text } from '../text.ts';

const config = text(
  '# Patch Configuration',
  '',
  'patch = 658506593cf1f98a1d9300c418ee5355',
  'patch-entry = install 179088c6b3495b1a9dec3715e77834e1 15565',
  'patch-entry = size 5841844a1a1ad48eaeb756c716869bf5 3248493',
  'archives =',
  'build-name = a = b',
  '',
);

describe('a config', () => {
  test('has values by key, and all lines of a key that repeats', () => {
    const { entries, get, all } = decodeConfig(config);
    expect(entries.map(({ key }) => key)).toEqual(['patch', 'patch-entry', 'patch-entry', 'archives', 'build-name']);
    expect(get('patch')).toEqual(['658506593cf1f98a1d9300c418ee5355']);
    expect(get('patch-entry')?.[0]).toBe('install');
    expect(all('patch-entry').map((values) => values[0])).toEqual(['install', 'size']);
    expect(get('archives')).toEqual([]);
    expect(get('build-name')).toEqual(['a', '=', 'b']);
    expect([get('root'), all('root'), get('constructor')]).toEqual([undefined, [], undefined]);
  });

  test('reads the same with CRLF and without spaces round the sign', () => {
    const crlf = new TextEncoder().encode(
      new TextDecoder().decode(config).replaceAll('\n', '\r\n').replace('patch = ', 'patch='),
    );
    const read = decodeConfig(crlf);
    expect(read.entries.map(({ key, values }) => ({ key, values }))).toEqual(decodeConfig(config).entries);
    expect(encodeConfig(read)).toEqual(crlf);
  });

  test('keeps comments, blank lines and spacing, but for lines that were changed', () => {
    const read = decodeConfig(text('# one', 'a  =  1', '', '# two', 'b=2', 'c = 3'));
    const entries = read.entries.map((entry) => (entry.key === 'b' ? { ...entry, values: ['4'] } : entry));
    expect(new TextDecoder().decode(encodeConfig({ ...read, entries }))).toBe('# one\na  =  1\n\n# two\nb = 4\nc = 3');
  });

  test('is written with its title first, as readers want it', () => {
    const { entries } = decodeConfig(config);
    const written = new TextDecoder().decode(encodeConfig({ entries, title: 'Patch Configuration' }));
    expect(written).toBe(new TextDecoder().decode(config));
    expect(written.startsWith('# ')).toBe(true);
  });

  test('is not made of an error page or of binary data', () => {
    expect(codeThrownBy(() => decodeConfig(htmlPage))).toBe('E_FORMAT');
    expect(codeThrownBy(() => decodeConfig(text('{"a": "="}')))).toBe('E_FORMAT');
    expect(codeThrownBy(() => decodeConfig(text('no equals sign here')))).toBe('E_FORMAT');
    expect(codeThrownBy(() => decodeConfig(text('a = b\0c')))).toBe('E_FORMAT');
    expect(codeThrownBy(() => decodeConfig(new Uint8Array([0x42, 0x4c, 0x54, 0x45, 0xff])))).toBe('E_FORMAT');
  });

  test('survives anything', () => {
    expectHostileSafe(decodeConfig, config, { prefixesFail: false });
    expect(codeThrownBy(() => decodeConfig(text(`a${' '.repeat(500_000)}b`)))).toBe('E_FORMAT');
  });
});
