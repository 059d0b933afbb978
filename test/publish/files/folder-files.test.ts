import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from '@jest/globals';
import { ListedFolder, listFolderFiles } from '../../../src/publish/files/folder-files.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

test('files by path, those in a folder named as a locale as its variants; links are passed over', async () => {
  for (const path of ['b/c.txt', 'b.txt', 'deDE/b/c.txt', 'B/deDE/x', 'dede/y', 'enUS', '.hidden']) {
    mkdirSync(dirname(scratch('game', path)), { recursive: true });
    writeFileSync(scratch('game', path), path);
  }
  writeFileSync(scratch('outside'), 'outside');
  symlinkSync(scratch('outside'), scratch('game', 'link'));
  symlinkSync(scratch('game', 'b'), scratch('game', 'folder-link'));
  const files = listFolderFiles(scratch('game'));
  expect(files.map(({ name, locale }) => [name, locale])).toEqual([
    ['.hidden', undefined],
    ['B/deDE/x', undefined],
    ['b.txt', undefined],
    ['b/c.txt', undefined],
    ['b/c.txt', 'deDE'],
    ['dede/y', undefined],
    ['enUS', undefined],
  ]);
  const texts = await Promise.all(files.map(async (file) => Buffer.from(await file.read()).toString()));
  expect(texts.slice(3, 5)).toEqual(['b/c.txt', 'deDE/b/c.txt']);
});

test('a folder is listed with what is wanted first before all else, then by the bytes of names; nothing is left of the list', async () => {
  const names = ['a', 'a/b', 'a.b', 'Z', 'é', 'zz/\u{1f3ae}', 'zz/\uffee', 'late', 'first', 'second'];
  for (const name of names) {
    mkdirSync(dirname(scratch('listed', `${name}.x`)), { recursive: true });
    writeFileSync(scratch('listed', `${name}.x`), name);
  }
  symlinkSync(scratch('listed', 'a.x'), scratch('listed', 'link'));
  const priorities: Record<string, number> = { 'late.x': 127, 'first.x': -128, 'second.x': -1 };
  const work = { temporary: scratch('tmp'), signal: undefined };
  const listed = await ListedFolder.open(scratch('listed'), (name) => ({ priority: priorities[name] }), work);
  const wanted = ['first', 'second', 'Z', 'a.b', 'a', 'a/b', 'zz/\uffee', 'zz/\u{1f3ae}', 'é', 'late'];
  const rows = [...listed];
  expect(rows.map(({ name }) => name)).toEqual(wanted.map((name) => `${name}.x`));
  expect(rows.map(({ size }) => size)).toEqual(wanted.map((name) => Buffer.byteLength(name)));
  expect(rows.map(({ facts }) => facts.priority)).toEqual(rows.map(({ name }) => priorities[name]));
  expect([listed.count, listed.links]).toEqual([wanted.length, 1]);
  expect(listed.size).toBe(rows.reduce((sum, { size }) => sum + size, 0));
  listed.close();
  expect(existsSync(scratch('tmp'))).toBe(false);
});
