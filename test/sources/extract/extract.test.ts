import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { PakratError } from '../../../src/core/errors.ts';
import { outputPath } from '../../../src/files/output/output-path.ts';
import { openPak } from '../../../src/paks/index.ts';
import { type ExtractOptions, type ExtractResult, extractFiles } from '../../../src/sources/extract/extract.ts';
import { pakSource } from '../../../src/sources/paks/pak-source.ts';
import { verifyPak } from '../../../src/sources/paks/run-pak-tasks.ts';
import { conformanceBytes, describeConformance } from '../../support/conformance.ts';
import { type QuakeFile, quakePak } from '../../support/quake-pak.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
let number = 0;
let to: string;
beforeEach(() => {
  number += 1;
  mkdirSync(scratch(`root${number}`));
  to = scratch(`root${number}`, 'out');
});

/** Every file below a folder, with its content. */
function filesBelow(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const path = (entry: (typeof entries)[number]): string => join(entry.parentPath, entry.name);
  return Object.fromEntries(
    entries.map((entry) => [path(entry).slice(folder.length + 1), readFileSync(path(entry), 'latin1')]),
  );
}

async function extract(
  bytes: Uint8Array | readonly QuakeFile[],
  options: Partial<ExtractOptions> = {},
): Promise<ExtractResult> {
  const pak = await openPak(bytesSource(bytes instanceof Uint8Array ? bytes : quakePak(bytes)));
  return extractFiles(pakSource(pak, 'test.pak'), { names: [], to, ...options });
}

const tree: QuakeFile[] = [
  { name: 'maps/e1/a.bsp', content: 'A' },
  { name: 'maps/b.bsp', content: 'B' },
  { name: 'maps/b.bsp', content: 'not this' },
  { name: 'readme.txt', content: 'R' },
];

describe('what is extracted', () => {
  test.each<[string, Partial<ExtractOptions>, Record<string, string>]>([
    ['everything that its name gives', {}, { 'maps/e1/a.bsp': 'A', 'maps/b.bsp': 'B', 'readme.txt': 'R' }],
    ['names', { names: ['maps/b.bsp'] }, { 'maps/b.bsp': 'B' }],
    ['a hidden one by its number', { names: ['index:2'] }, { 'maps/b.bsp': 'not this' }],
    ['globs', { names: ['*.bsp'], exclude: ['maps/e1/**'] }, { 'maps/b.bsp': 'B' }],
    ['include', { include: ['*.txt'] }, { 'readme.txt': 'R' }],
    ['strip', { strip: 1 }, { 'e1/a.bsp': 'A', 'b.bsp': 'B' }],
    ['flat', { flat: true }, { 'a.bsp': 'A', 'b.bsp': 'B', 'readme.txt': 'R' }],
  ])('%s', async (_, options, files) => {
    const result = await extract(tree, options);
    expect(result.failed).toEqual([]);
    expect(filesBelow(to)).toEqual(files);
    expect(result.files).toBe(Object.keys(files).length);
  });

  test('a glob that chooses nothing is an error; so is --raw where there is no such thing', async () => {
    await expect(extract(tree, { names: ['*.wav'] })).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    await expect(extract(tree, { raw: true })).rejects.toMatchObject({ code: 'E_UNSUPPORTED' });
  });

  test('strip that leaves nothing of any name is an error, not an empty folder that looks like success', async () => {
    const nothing = { code: 'E_NOT_FOUND', hint: expect.stringContaining('--strip') };
    await expect(extract(tree, { strip: 9 })).rejects.toMatchObject(nothing);
    await expect(extract(tree, { names: ['readme.txt'], strip: 1 })).rejects.toMatchObject(nothing);
  });

  test('two files that --flat would put into one: the second is refused', async () => {
    const result = await extract([...tree, { name: 'old/B.bsp', content: 'other' }], { flat: true });
    expect(result.failed).toMatchObject([{ name: 'old/B.bsp', code: 'E_UNSAFE_PATH' }]);
    expect(filesBelow(to)['b.bsp']).toBe('B');
  });
});

const hostile = [
  '../out.txt',
  'a/../../out.txt',
  'C:/x.txt',
  'c:x.txt',
  'a:stream',
  'a//b',
  './',
  '/',
  '/../a',
  './../a',
  'a/.',
  '..',
  'con',
  'aux.txt',
  'dir/NUL.c',
  'lpt1',
  'COM¹.txt',
  'name.',
  'name ',
  'a\u0001b',
  'a?b',
];

test.each(hostile)('%j is written nowhere, and keeps nothing else back', async (name) => {
  expect(() => outputPath(name)).toThrow();
  const result = await extract([{ name: Buffer.from(name).toString('latin1'), content: 'bad' }, ...tree]);
  expect(result.failed).toMatchObject([{ code: 'E_UNSAFE_PATH' }]);
  expect(result.files).toBe(3);
  expect(Object.keys(filesBelow(scratch(`root${number}`))).sort()).toEqual([
    'out/maps/b.bsp',
    'out/maps/e1/a.bsp',
    'out/readme.txt',
  ]);
});

test('names from the folder itself or from the root are written below the output folder', async () => {
  const names = ['./a', '/b', '\\c', 'd/./x', './/d/y', '//e//../z', '/../up', './.'];
  const result = await extract(names.map((name) => ({ name, content: name })));
  expect(result.failed.map(({ name, code }) => [name, code])).toEqual([
    ['e//../z', 'E_UNSAFE_PATH'],
    ['../up', 'E_UNSAFE_PATH'],
    ['.', 'E_UNSAFE_PATH'],
  ]);
  expect(filesBelow(to)).toEqual({ a: './a', b: '/b', c: '\\c', 'd/x': 'd/./x', 'd/y': './/d/y' });
});

test('such names count as the parts that they have, and not as two files', async () => {
  const rows = ['./maps/a', '/maps/b', 'maps/c'].map((name) => ({ name, content: name }));
  await extract(rows, { strip: 1 });
  expect(Object.keys(filesBelow(to)).sort()).toEqual(['a', 'b', 'c']);
  const twice = await extract([...rows, { name: 'maps/a', content: 'another' }]);
  expect(twice).toMatchObject({ files: 3, failed: [] });
  expect(readFileSync(join(to, 'maps/a'), 'utf8')).toBe('./maps/a');
});

test('links in the output folder lead nowhere', async () => {
  mkdirSync(to);
  mkdirSync(scratch(`root${number}`, 'elsewhere'));
  writeFileSync(scratch(`root${number}`, 'victim'), 'safe');
  symlinkSync('../elsewhere', join(to, 'maps'));
  symlinkSync('../victim', join(to, 'readme.txt'));
  const result = await extract(tree);
  expect(result.failed.map(({ code }) => code)).toEqual(['E_UNSAFE_PATH', 'E_UNSAFE_PATH', 'E_UNSAFE_PATH']);
  expect(readdirSync(scratch(`root${number}`, 'elsewhere'))).toEqual([]);
  expect(readFileSync(scratch(`root${number}`, 'victim'), 'utf8')).toBe('safe');
});

test('names that differ by case only: the second is refused', async () => {
  const result = await extract([...tree, { name: 'README.TXT', content: 'other' }]);
  expect(result.failed).toMatchObject([{ name: 'README.TXT', code: 'E_UNSAFE_PATH' }]);
});

test('a file that ends in an error leaves nothing under its name, and what stood there stays', async () => {
  const pak = await openPak(bytesSource(quakePak(tree)));
  const broken = {
    ...pakSource(pak, 'x'),
    pak: Object.assign(Object.create(pak) as typeof pak, {
      async *read() {
        yield new Uint8Array(10);
        throw new PakratError('E_INTEGRITY', 'damaged');
      },
    }),
  };
  mkdirSync(to);
  writeFileSync(join(to, 'readme.txt'), 'old');
  const result = await extractFiles(broken, { names: [], to });
  expect(result.failed.map(({ code }) => code)).toEqual(['E_INTEGRITY', 'E_INTEGRITY', 'E_INTEGRITY']);
  expect(filesBelow(to)).toEqual({ 'readme.txt': 'old' });
});

describeConformance('real PAKs', () => {
  test('times are set where the format has them', async () => {
    const bytes = conformanceBytes('pak', 'unreal', 'u4pak', 'u4pak_v1.pak');
    const pak = await openPak(bytesSource(bytes));
    await extractFiles(pakSource(pak, 'x'), { names: [], to });
    const entry = pak.entries.find(({ mtime }) => mtime !== undefined)!;
    expect(statSync(join(to, entry.name)).mtimeMs).toBe(entry.mtime!.getTime());
  });

  test('verify counts what it checks and names what is damaged', async () => {
    const bytes = conformanceBytes('pak', 'unreal', 'repak', 'pack_v8b.pak');
    const right = await verifyPak(pakSource(await openPak(bytesSource(bytes)), 'x'));
    expect(right).toEqual({ checked: { entries: 4, bytes: 10257 + 446 + 2048 + 596 }, bad: [], repaired: 0 });
    const damaged = bytes.slice();
    damaged[100]! ^= 1;
    const wrong = await verifyPak(pakSource(await openPak(bytesSource(damaged)), 'x'));
    expect(wrong.bad).toMatchObject([{ index: 0, code: 'E_INTEGRITY' }]);
  });
});
