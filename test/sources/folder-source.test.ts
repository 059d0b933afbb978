import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { codeOf } from '../../src/core/errors.ts';
import { folderSource } from '../../src/sources/folder-source.ts';
import type { Source } from '../../src/sources/source.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();

async function names(source: Source, matches: (name: string) => boolean = () => true): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of source.list(matches)) found.push(name);
  return found;
}

async function text(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  let read = '';
  for await (const piece of pieces) read += Buffer.from(piece).toString('latin1');
  return read;
}

async function failure(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(() => undefined, codeOf);
}

function makeFolder(name: string): string {
  mkdirSync(scratch(name, 'b/deep'), { recursive: true });
  mkdirSync(scratch(name, 'empty'));
  writeFileSync(scratch(name, 'a.txt'), 'first');
  writeFileSync(scratch(name, 'b/z.txt'), '');
  writeFileSync(scratch(name, 'b/deep/c d.bin'), '0123456789');
  return scratch(name);
}

describe('a folder as a source', () => {
  test('files have names with /, sizes and times, and are read whole or in part', async () => {
    const source = folderSource(makeFolder('plain'));
    expect(await names(source)).toEqual(['a.txt', 'b/z.txt', 'b/deep/c d.bin']);
    expect(await names(source, (name) => name.endsWith('.txt'))).toEqual(['a.txt', 'b/z.txt']);
    const entry = await source.get('b/deep/c d.bin');
    expect(entry).toMatchObject({ name: 'b/deep/c d.bin', size: 10, mtime: expect.anything() });
    expect(await text(source.read(entry))).toBe('0123456789');
    expect(await text(source.readRange!(entry, 3, 4))).toBe('3456');
    expect(await failure(text(source.readRange!(entry, 8, 4)))).toBe('E_FORMAT_RANGE');
    expect(await source.info()).toMatchObject({ kind: 'folder', files: 3, bytes: 15 });
  });

  test('what is not there is E_NOT_FOUND, the folder itself too', async () => {
    const source = folderSource(makeFolder('missing'));
    for (const name of ['none', 'b', 'empty', 'a.txt/x', '', '/a.txt', 'b//z.txt', 'b/./z.txt', 'a.txt\0'])
      expect([name, await failure(source.get(name))]).toEqual([name, 'E_NOT_FOUND']);
    expect(() => folderSource(scratch('nowhere'))).toThrow('there is no folder');
    expect(() => folderSource(scratch('missing', 'a.txt'))).toThrow('there is no folder');
  });

  test('links are followed to files inside, and never out of the folder', async () => {
    const folder = makeFolder('links');
    writeFileSync(scratch('secret.txt'), 'secret');
    mkdirSync(scratch('outside'));
    writeFileSync(scratch('outside', 'secret.txt'), 'secret');
    symlinkSync('b/deep/c d.bin', scratch('links', 'inner'));
    symlinkSync('../secret.txt', scratch('links', 'outer'));
    symlinkSync(scratch('outside'), scratch('links', 'folder'));
    symlinkSync('.', scratch('links', 'loop'));
    symlinkSync('self', scratch('links', 'self'));
    symlinkSync('nowhere', scratch('links', 'dangling'));
    const source = folderSource(folder);
    expect(await names(source)).toEqual(['a.txt', 'inner', 'b/z.txt', 'b/deep/c d.bin']);
    expect(await text(source.read(await source.get('inner')))).toBe('0123456789');
    for (const name of ['outer', 'folder/secret.txt', '../secret.txt', 'b/../../secret.txt', 'self', 'dangling'])
      expect([name, await failure(source.get(name))]).toEqual([name, 'E_NOT_FOUND']);
  });

  test('a link that comes in the place of a listed file is not followed out either', async () => {
    const source = folderSource(makeFolder('swapped'));
    const entry = await source.get('a.txt');
    rmSync(scratch('swapped', 'a.txt'));
    writeFileSync(scratch('secret2.txt'), 'secret');
    symlinkSync('../secret2.txt', scratch('swapped', 'a.txt'));
    expect(await failure(text(source.read(entry)))).toBe('E_NOT_FOUND');
  });

  test('nor is one that comes in the place of its folder', async () => {
    const folder = makeFolder('swapped-folder');
    mkdirSync(join(folder, 'inner'));
    mkdirSync(scratch('outer'));
    for (const path of [join(folder, 'inner', 'a.txt'), scratch('outer', 'a.txt')]) writeFileSync(path, path);
    const source = folderSource(folder);
    const entry = await source.get('inner/a.txt');
    expect(await text(source.read(entry))).toBe(join(folder, 'inner', 'a.txt'));
    rmSync(join(folder, 'inner'), { recursive: true });
    symlinkSync('../outer', join(folder, 'inner'));
    expect(await failure(text(source.read(entry)))).toBe('E_NOT_FOUND');
  });

  test('the folder itself may be reached by a link', async () => {
    makeFolder('real');
    symlinkSync('real', scratch('alias'));
    expect(await names(folderSource(scratch('alias')))).toHaveLength(3);
    renameSync(scratch('real'), scratch('moved'));
    expect(() => folderSource(scratch('alias'))).toThrow('there is no folder');
  });
});
