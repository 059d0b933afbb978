import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { openPak } from '../../../src/paks/index.ts';
import { type ExtractResult, extractFiles } from '../../../src/sources/extract/extract.ts';
import { decodeExtractList } from '../../../src/sources/extract/extract-list.ts';
import { tarFiles } from '../../../src/sources/extract/extract-tar.ts';
import { type PakSource, pakSource } from '../../../src/sources/paks/pak-source.ts';
import { RegexSearch } from '../../../src/sources/regex-search.ts';
import { builtModule } from '../../support/built-module.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { quakePak } from '../../support/quake-pak.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { codeOf } from '../../support/thrown-code.ts';

const scratch = scratchFolder();
const workerUrl = new URL(builtModule('src/sources/regex-worker.ts'));
const key = '7fa7faa0fdece01a838af3c4005f7f69';
const list = (text: string): ReturnType<typeof decodeExtractList> => decodeExtractList(Buffer.from(text));

describe('a list of files to extract', () => {
  test('names, ids and keys, with and without a name to write them under', () => {
    expect(
      list(
        `\ufeff# files\r\n\r\n a/b.blp \r\nfdid:5\n801575\n801575;db/x.db2\nckey:${key};a.db2\nekey:${key.toUpperCase()}\na b;c d`,
      ),
    ).toEqual([
      { name: 'a/b.blp', output: undefined },
      { name: 'fdid:5', output: undefined },
      { name: 'fdid:801575', output: undefined },
      { name: 'fdid:801575', output: 'db/x.db2' },
      { name: `ckey:${key}`, output: 'a.db2' },
      { name: `ekey:${key.toUpperCase()}`, output: undefined },
      { name: 'a b', output: 'c d' },
    ]);
  });

  test('the lines that the readme of TACTTool shows', () => {
    const lines = [
      'install;WoW.exe',
      'install;Wow.exe;Wow-but-I-wanted-to-rename-it.exe',
      'WoW.exe',
      'Wow.exe;Wow-maybe-this-name-is-better.exe',
      `ckey;${key}`,
      `ckey;${key};BattlePetAbilityEffect.db2`,
      'ekey;00b797ea435427185f33466495855656;SomeFile.bytes',
      '801575;DBFilesClient/BattlePetAbilityEffect.db2',
    ];
    expect(list(lines.join('\n')).map(({ name, output }) => [name, output])).toEqual([
      ['WoW.exe', undefined],
      ['Wow.exe', 'Wow-but-I-wanted-to-rename-it.exe'],
      ['WoW.exe', undefined],
      ['Wow.exe', 'Wow-maybe-this-name-is-better.exe'],
      [`ckey:${key}`, undefined],
      [`ckey:${key}`, 'BattlePetAbilityEffect.db2'],
      ['ekey:00b797ea435427185f33466495855656', 'SomeFile.bytes'],
      ['fdid:801575', 'DBFilesClient/BattlePetAbilityEffect.db2'],
    ]);
  });

  test.each([
    'ckey:12',
    `ckey:${key}0`,
    'ekey;xyz;a',
    'fdid:x',
    'fdid:',
    '4294967296',
    ';a',
    'a;',
    'a;b;c',
    `ckey;${key};a;b`,
    'install;',
    'a\u0001b',
  ])('%j is no line of one, and the error says which it is', (line) => {
    expect(codeOf(() => list(`# 1\nright\n${line}\n`))).toBe('E_FORMAT');
    expect(() => list(`# 1\nright\n${line}\n`)).toThrow(/line 3:/);
  });

  test('damaged lists are refused or read, never anything else', () => {
    expectHostileSafe(
      decodeExtractList,
      Buffer.from(`# x\na/b;c\n801575;d\nckey:${key};e\nekey;${key}\ninstall;Wow.exe\n`),
      { prefixesFail: false },
    );
  });

  test('what is no text is no list', () => {
    expect(codeOf(() => decodeExtractList(Uint8Array.of(0xff, 0xfe, 0x61)))).toBe('E_FORMAT');
  });
});

describe('files by list', () => {
  const open = async (): Promise<PakSource> => {
    const files = [
      { name: 'maps/a.bsp', content: 'A' },
      { name: 'b.txt', content: 'B' },
    ];
    return pakSource(await openPak(bytesSource(quakePak(files))), 'test.pak');
  };
  /** Extracts into a folder that stands in an empty one, and reads back all that is in the latter. */
  async function extract(
    name: string,
    text: string,
    more: object = {},
  ): Promise<[ExtractResult, Record<string, string>]> {
    mkdirSync(scratch(name));
    const result = await extractFiles(await open(), { names: [], to: scratch(name, 'out'), list: list(text), ...more });
    const files = readdirSync(scratch(name), { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const path = (entry: (typeof files)[number]): string => join(entry.parentPath, entry.name);
    const content = files.map((entry) => [
      path(entry).slice(scratch(name).length + 1),
      readFileSync(path(entry), 'utf8'),
    ]);
    return [result, Object.fromEntries(content) as Record<string, string>];
  }

  test('each is written under its name, the same one under several; nothing else is', async () => {
    const [result, files] = await extract('named', 'MAPS\\A.BSP;x/y.bsp\nmaps/a.bsp\nmaps/a.bsp;second\n');
    expect(result).toMatchObject({ files: 3, failed: [] });
    expect(files).toEqual({ 'out/x/y.bsp': 'A', 'out/maps/a.bsp': 'A', 'out/second': 'A' });
  });

  test('what is not there is reported, the rest extracted; names lead nowhere', async () => {
    const [result, files] = await extract(
      'odd',
      'none.txt\nb.txt;../out.txt\nmaps/a.bsp;C:/x\nb.txt;con\nb.txt\nfdid:4\n',
    );
    expect(result.failed.map(({ name, code }) => [name, code])).toEqual([
      ['none.txt', 'E_NOT_FOUND'],
      ['fdid:4', 'E_NOT_FOUND'],
      ['b.txt', 'E_UNSAFE_PATH'],
      ['maps/a.bsp', 'E_UNSAFE_PATH'],
      ['b.txt', 'E_UNSAFE_PATH'],
    ]);
    expect(files).toEqual({ 'out/b.txt': 'B' });
  });

  test('two files do not get one name', async () => {
    const [result, files] = await extract('same', 'b.txt;one\nmaps/a.bsp;ONE\n');
    expect(result.failed).toMatchObject([{ name: 'maps/a.bsp', code: 'E_UNSAFE_PATH' }]);
    expect(files).toEqual({ 'out/one': 'B' });
  });

  test('globs go beside it, filters hold for it, and an empty list is nothing, not everything', async () => {
    expect((await extract('globs', 'b.txt;c', { names: ['*.bsp'] }))[1]).toEqual({
      'out/maps/a.bsp': 'A',
      'out/c': 'B',
    });
    const regex = new RegexSearch(['\\.bsp$'], { workerUrl });
    const [, filtered] = await extract('filter', 'b.txt;c\nmaps/a.bsp', { regex }).finally(() => regex.close());
    expect(filtered).toEqual({ 'out/maps/a.bsp': 'A' });
    expect((await extract('empty', '# nothing\n'))[0]).toMatchObject({ files: 0, failed: [] });
  });

  test('a tar has the names of the list, too', async () => {
    const result: ExtractResult = { files: 0, bytes: 0, skipped: 0, failed: [] };
    const pieces: Uint8Array[] = [];
    const options = { names: [], list: list('b.txt;renamed\nnone\n') };
    for await (const piece of tarFiles(await open(), options, result)) pieces.push(piece);
    expect(Buffer.concat(pieces).toString('latin1', 0, 7)).toBe('renamed');
    expect(result).toMatchObject({ files: 1, failed: [{ name: 'none', code: 'E_NOT_FOUND' }] });
  });
});

describe('files by regular expression', () => {
  const files = ['maps/a1.bsp', 'maps/b22.BSP', 'c.txt'].map((name) => ({ name, content: name }));
  const extract = async (patterns: string[], more: object = {}): Promise<string[]> => {
    const regex = new RegexSearch(patterns, { workerUrl });
    const source = pakSource(await openPak(bytesSource(quakePak(files))), 'test.pak');
    const to = scratch(`regex-${patterns.join('-').replace(/\W/g, '')}-${Object.keys(more).join('')}`);
    const result = await extractFiles(source, { names: [], to, regex, ...more }).finally(() => regex.close());
    expect(result.failed).toEqual([]);
    return readdirSync(to, { recursive: true })
      .map(String)
      .filter((name) => name.includes('.'))
      .sort();
  };

  test('one of them must be found, whatever the case; globs must match as well', async () => {
    expect(await extract(['[0-9]{2}\\.bsp$', '^C\\.'])).toEqual(['c.txt', 'maps/b22.BSP']);
    expect(await extract(['\\d'], { exclude: ['b*'] })).toEqual(['maps/a1.bsp']);
    expect(await extract(['\\d'], { names: ['a*'] })).toEqual(['maps/a1.bsp']);
  });

  test('a file that is named must have one, too', async () => {
    expect(await extract(['22'], { names: ['maps/a1.bsp', 'maps/b22.BSP'] })).toEqual(['maps/b22.BSP']);
  });

  test('one that is found nowhere is not found', async () => {
    await expect(extract(['nothing'])).rejects.toMatchObject({ code: 'E_NOT_FOUND', data: { glob: 'nothing' } });
  });
});
