import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from '@jest/globals';
import { listFolderFiles } from '../../../src/publish/files/folder-files.ts';
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
