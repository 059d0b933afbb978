import { mkdirSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { compareNames } from '../../../../src/core/names/name-order.ts';
import { parseQuery, searchNames } from '../../../../src/serve/pages/served/search-names.ts';
import { writeNames } from '../../../../src/serve/pages/served/write-names.ts';
import { type FolderRow, folderPage } from '../../../../src/sources/names/folder-page.ts';
import { lineOf, type NameIndex } from '../../../../src/sources/names/name-index.ts';
import type { Source } from '../../../../src/sources/source.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { codeOf } from '../../../support/thrown-code.ts';

const scratch = scratchFolder();
const folders = Array.from({ length: 3 }, (_, i) => `many/folder ${i}/`);
const names = [
  ...Array.from({ length: 100_000 }, (_, i) => `many/${String(i).padStart(6, '0')}.txt`),
  ...Array.from({ length: 50_000 }, (_, i) => `${folders[i % 3]}${i}.BIN`),
  ...Array.from({ length: 1000 }, (_, i) => `wide/${i}/only.dat`),
  'many-more.txt',
  'many.txt',
  'ÄRGER/Straße.txt',
  `long/${'x'.repeat(60_000)}/end.txt`,
  'twice',
  'twice',
  '//empty//parts',
  'a\nb/c\nd',
  'fdid:10',
];
let index: NameIndex;

/** A source of names that are numbered where they lie twice. */
function sourceOf(all: readonly string[]): Source {
  const list = (): { name: string; index: number | undefined }[] =>
    all.map((name, i) => ({ name, index: name === 'twice' ? i : undefined }));
  return { kind: 'other', list } as unknown as Source;
}

beforeAll(async () => {
  mkdirSync(scratch('tmp'));
  index = await writeNames(sourceOf(names), scratch('tmp'));
});
afterAll(() => index.close());

function allRows(folder: string, limit: number): string[] {
  const all: string[] = [];
  for (let from: number | undefined = 0; from !== undefined; ) {
    const page: { rows: FolderRow[]; next: number | undefined } = folderPage(index, { folder, from, limit });
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    all.push(...page.rows.map((row) => ('folder' in row ? row.folder : row.name)));
    from = page.next;
  }
  return all;
}

test('a folder gives what lies directly in it, once, page by page', () => {
  for (const folder of ['', 'many/', 'wide/', 'long/', '/', '//', 'a\nb/', 'none/', 'many/folder 1/']) {
    const below = names.filter((name) => name.startsWith(folder)).map((name) => name.slice(folder.length));
    const expected = new Set(below.map((rest) => folder + (/^[^/]*\//.exec(rest)?.[0] ?? rest)));
    const found = allRows(folder, 500);
    expect(new Set(found)).toEqual(expected);
    expect(found.length).toBe(expected.size + (folder === '' ? 1 : 0));
    // Where all of it is on the one page, folders come first.
    if (found.length > 500) expect(found).toEqual(found.toSorted(compareNames));
  }
});

test('where all of a folder fits on a page, folders come first', () => {
  const { rows } = folderPage(index, { folder: '', from: 0, limit: 100 });
  const firstFile = rows.findIndex((row) => !('folder' in row));
  expect(rows.slice(firstFile).some((row) => 'folder' in row)).toBe(false);
});

test.each([
  '99999',
  'MANY 4999',
  '*.bin',
  'many/*7777*',
  '**/only.dat',
  '"folder 2" 9',
  'ärger',
  'strasse',
  'straße',
  'x'.repeat(150),
  'end.txt',
  '[a-f]*',
])('a search finds what the names say, page by page: %s', async (text) => {
  const query = parseQuery(text);
  const found: string[] = [];
  for (let from: number | undefined = 0; from !== undefined; ) {
    const page: Awaited<ReturnType<typeof searchNames>> = await searchNames(index, query, {
      folder: '',
      from,
      limit: 700,
    });
    found.push(...page.rows.map(({ name }) => name));
    from = page.next;
  }
  const words = text.startsWith('"') ? ['folder 2', '9'] : text.toLowerCase().split(' ');
  const expected = /[*[]/.test(text)
    ? names.filter((name) => name.length < 4096 && query.matches!(name))
    : names.filter((name) => words.every((word) => name.toLowerCase().includes(word)));
  expect(found.toSorted()).toEqual(expected.toSorted());
});

test('a search stays below its folder', async () => {
  const { rows } = await searchNames(index, parseQuery('2.bin'), { folder: 'many/folder 1/', from: 0, limit: 9 });
  expect(rows.length).toBe(9);
  for (const { name } of rows) expect(name).toMatch(/^many\/folder 1\/.*2\.BIN$/);
});

test('a place from outside is brought to the beginning of its line', () => {
  const [line] = [...take(index.lines(index.lineStart(12_345)), 1)];
  expect(names).toContain(line?.name);
  for (const place of [-5, Number.NaN, 1e15, 0.5])
    expect(() => [...take(index.lines(index.lineStart(place)), 1)]).not.toThrow();
  expect(lineOf(Buffer.from([0x61, 0xfe, 0x62, 0xfe, 0x33]), 6)).toEqual({
    name: 'a',
    other: 'b',
    index: 3,
    at: 6,
    next: 12,
  });
});

test('patterns that would be a burden are refused', () => {
  for (const text of [
    'a'.repeat(201),
    '{a,b}{c,d}{e,f}',
    '{1..9}',
    `{${'a,'.repeat(17)}b}`,
    'a b c d e f g h i j k',
    '+(a)*',
  ])
    expect(codeOf(() => parseQuery(text))).toBe('E_USAGE');
});

test('a search that takes long gives what it has, and goes on from there', async () => {
  const slow = { parts: [], matches: (name: string) => name.length > 5 && performance.now() - busy(0.05) > 1e12 };
  const { rows, next, isCut } = await searchNames(index, slow, { folder: '', from: 0, limit: 10 });
  expect([rows.length, isCut, next! > 0 && next! < index.size]).toEqual([0, true, true]);
});

test('nothing is left of it when it is closed', async () => {
  mkdirSync(scratch('other'));
  const other = await writeNames(sourceOf(['a']), scratch('other'));
  expect(readdirSync(scratch('other'))).toHaveLength(1);
  other.close();
  other.close();
  expect(readdirSync(scratch('other'))).toEqual([]);
});

function busy(ms: number): number {
  const until = performance.now() + ms;
  while (performance.now() < until);
  return until;
}

function* take<Item>(items: Iterable<Item>, count: number): Generator<Item> {
  let left = count;
  for (const item of items) {
    if (left-- === 0) return;
    yield item;
  }
}
