import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { OutputFolder, writeAtOnce, writeOutput } from '../../../src/files/output/output-folder.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const unsafe = expect.objectContaining({ code: 'E_UNSAFE_PATH' });

test('names with either slash stay below the folder; two that differ by case are one file somewhere', () => {
  const folder = new OutputFolder(scratch('out'));
  expect(folder.claim('World\\Maps/a.adt')).toBe('World/Maps/a.adt');
  expect(folder.claim('World\\Maps/a.adt')).toBe('World/Maps/a.adt');
  expect(() => folder.claim('world/maps/A.ADT')).toThrow(unsafe);
});

test('after the last claim the paths are written, and no other is claimed', () => {
  const folder = new OutputFolder(scratch('claimed'));
  const path = folder.claim('a/b.bin');
  folder.endClaims();
  folder.endClaims();
  expect(() => folder.claim('a/B.bin')).toThrow('after the last');
  expect(folder.claimed).toBe(1);
  expect(folder.fileFor(path)).toBe(join(folder.root, 'a/b.bin'));
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

test('pieces that come at once, and turn out to be nothing, leave what was there', () => {
  const folder = new OutputFolder(scratch('once'));
  const file = folder.fileFor('a.bin');
  function* pieces(isRight: boolean, ...bytes: number[]): Generator<Uint8Array, boolean> {
    for (const byte of bytes) yield Uint8Array.of(byte);
    return isRight;
  }
  expect(writeAtOnce(file, pieces(false, 7))).toBeUndefined();
  expect(fs.readdirSync(folder.root)).toEqual([]);
  expect(writeAtOnce(file, pieces(true, 1, 2), new Date(5000))).toBe(2);
  expect(fs.statSync(file).mtimeMs).toBe(5000);
  expect(writeAtOnce(file, pieces(false, 7))).toBeUndefined();
  expect([...fs.readFileSync(file)]).toEqual([1, 2]);
  expect(fs.readdirSync(folder.root)).toEqual(['a.bin']);
});

test('folders that were seen are not looked at again, and others are', () => {
  const folder = new OutputFolder(scratch('seen'));
  const seen = new Map<string, boolean>();
  const file = folder.fileFor('a/b/c', seen);
  expect(file).toBe(join(folder.root, 'a/b/c'));
  expect([...seen]).toEqual([
    [join(folder.root, 'a'), true],
    [join(folder.root, 'a/b'), true],
  ]);
  fs.symlinkSync(scratch('elsewhere'), join(folder.root, 'a/d'));
  expect(() => folder.fileFor('a/d/e', seen)).toThrow(unsafe);
  // What was there before is looked at, whatever was seen.
  const again = new Map<string, boolean>();
  fs.mkdirSync(join(folder.root, 'a/b/f'));
  expect(() => folder.fileFor('a/b/f', again)).toThrow(unsafe);
  expect([...again.values()]).toEqual([false, false]);
});
