import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { OutputFolder, outputPath, writeOutput } from '../../../src/files/output/output-folder.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const unsafe = expect.objectContaining({ code: 'E_UNSAFE_PATH' });

test.each(['../out', 'a/../../out', 'C:\\x', 'a//b', 'a/.', './', '/', 'aux.txt', 'dot.', 'a\0b', 'x'.repeat(300)])(
  '%j is no path to write to',
  (name) => {
    expect(() => outputPath(name)).toThrow(unsafe);
  },
);

test.each([
  ['./a', 'a'],
  ['/etc/passwd', 'etc/passwd'],
  ['a/./b', 'a/b'],
  ['\\\\server\\x', 'server/x'],
])('%j is the path %s below the folder', (name, path) => {
  expect(outputPath(name)).toBe(path);
});

test('names with either slash stay below the folder; two that differ by case are one file somewhere', () => {
  const folder = new OutputFolder(scratch('out'));
  expect(folder.claim('World\\Maps/a.adt')).toBe('World/Maps/a.adt');
  expect(folder.claim('World\\Maps/a.adt')).toBe('World/Maps/a.adt');
  expect(() => folder.claim('world/maps/A.ADT')).toThrow(unsafe);
});

test('a link on the way is not followed', () => {
  fs.mkdirSync(scratch('elsewhere'));
  const folder = new OutputFolder(scratch('linked'));
  fs.symlinkSync(scratch('elsewhere'), join(folder.root, 'maps'));
  expect(() => folder.fileFor('maps/a.adt')).toThrow(unsafe);
  expect(fs.readdirSync(scratch('elsewhere'))).toEqual([]);
});

test('a file has its name when all of it is there: what fails half-way leaves nothing', async () => {
  const folder = new OutputFolder(scratch('whole'));
  const file = folder.fileFor('a/b.bin');
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Uint8Array.of(1, 2);
    throw new Error('the host is gone');
  }
  await expect(writeOutput(file, broken())).rejects.toThrow('the host is gone');
  expect(fs.readdirSync(join(folder.root, 'a'))).toEqual([]);
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield Uint8Array.of(1, 2);
    yield Uint8Array.of(3);
  }
  expect(await writeOutput(file, whole())).toBe(3);
  expect([...fs.readFileSync(file)]).toEqual([1, 2, 3]);
});
