import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { codeOf } from '../../src/core/errors.ts';
import { folderEntries } from '../../src/files/read-at.ts';
import { childOf, namesIn, refuseUnnamed, walk, walkFiles } from '../../src/files/walk.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();

/** A folder with files, folders, and links of every kind. */
function plant(): string {
  mkdirSync(scratch('tree', 'b', 'deep'), { recursive: true });
  mkdirSync(scratch('tree', 'empty'));
  mkdirSync(scratch('outside'), { recursive: true });
  for (const name of ['a', 'c', 'b/y', 'b/deep/x', '../outside/o']) writeFileSync(scratch('tree', name), name);
  symlinkSync('b/deep/x', scratch('tree', 'file-link'));
  symlinkSync(scratch('outside'), scratch('tree', 'folder-link'));
  symlinkSync('.', scratch('tree', 'b', 'loop'));
  symlinkSync('nowhere', scratch('tree', 'dangling'));
  return scratch('tree');
}

test('a walk gives the files of a folder, then those of the folders in it, and enters no link', () => {
  const folder = plant();
  expect([...walk(folder)].map(({ name, isLink }) => (isLink ? `${name} ->` : name))).toEqual([
    'a',
    'c',
    'dangling ->',
    'file-link ->',
    'folder-link ->',
    'b/loop ->',
    'b/y',
    'b/deep/x',
  ]);
  const files = [...walkFiles(folder)].map(({ name, stat }) => [name, stat.size]);
  expect(files).toEqual([
    ['a', 1],
    ['c', 1],
    ['file-link', 8],
    ['b/y', 3],
    ['b/deep/x', 8],
  ]);
});

test('folders may be nested as deep as the system has them', () => {
  const deep = Array.from({ length: 300 }, () => 'd').join('/');
  mkdirSync(scratch('nested', deep), { recursive: true });
  writeFileSync(scratch('nested', deep, 'f'), '');
  expect([...walk(scratch('nested'))]).toEqual([{ name: `${deep}/f`, isLink: false }]);
});

test('a folder with more files than are sorted in memory is gone through as any other', () => {
  const folder = scratch('large');
  mkdirSync(join(folder, 'a'), { recursive: true });
  const names = Array.from({ length: 66_000 }, (_, i) => `${(i * 7919) % 66_000}.blp`);
  // By UTF-16 units the first would come last.
  for (const name of [...names, '\uffee', '\u{1f600}', 'a/x']) writeFileSync(join(folder, name), '');
  symlinkSync('0.blp', join(folder, '0.link'));
  const found = [...walk(folder)];
  const inFolder = [...names, '0.link', '\uffee', '\u{1f600}'].sort((a, b) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  expect(found.map(({ name }) => name)).toEqual([...inFolder, 'a/x']);
  expect(found.filter(({ isLink }) => isLink)).toEqual([{ name: '0.link', isLink: true }]);
  const unsorted = [...walk(folder, { largeUnsorted: true })].map(({ name }) => name);
  expect(unsorted.sort()).toEqual(found.map(({ name }) => name).sort());
  // Whoever ends early leaves nothing open.
  const open = (): number | undefined =>
    existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : undefined;
  const before = open();
  const [first] = walk(folder);
  expect(first).toEqual(found[0]);
  for (const largeUnsorted of [true, false]) for (const _ of walk(folder, { largeUnsorted })) break;
  expect(open()).toBe(before);
  expect(namesIn(folder, (name) => name.startsWith('6599'))).toEqual(
    inFolder.filter((name) => name.startsWith('6599')),
  );
});

test('a folder may have more folders in it than a call takes arguments', () => {
  for (let i = 0; i < 130_000; i++) mkdirSync(scratch('wide', `${i}`), { recursive: i === 0 });
  writeFileSync(scratch('wide', '77777', 'f'), '');
  expect([...walk(scratch('wide'))]).toEqual([{ name: '77777/f', isLink: false }]);
});

test('what is not there, or is no folder, has no names; a walk through it is an error with a code', () => {
  writeFileSync(scratch('file'), '');
  for (const path of [scratch('none'), scratch('file')]) {
    expect(namesIn(path)).toEqual([]);
    expect(() => [...folderEntries(path)]).toThrow(expect.objectContaining({ code: 'E_NOT_FOUND' }));
    expect(() => [...walk(path)]).toThrow(expect.objectContaining({ code: 'E_NOT_FOUND' }));
  }
});

test('a name that is not UTF-8 is passed over, or refused where nothing may be left out', () => {
  mkdirSync(scratch('old', 'a'), { recursive: true });
  // The second has the mark itself in its name, and that is UTF-8.
  for (const name of ['a/x', 'b\ufffd']) writeFileSync(scratch('old', name), '');
  const latin1 = (name: string) => Buffer.from(scratch('old', name), 'latin1');
  try {
    writeFileSync(latin1('a/gr\u00fcn'), '');
    mkdirSync(latin1('h\u00fcte'));
    writeFileSync(latin1('h\u00fcte/y'), '');
  } catch {
    // Not every system takes such names.
    return;
  }
  expect([...walkFiles(scratch('old'))].map(({ name }) => name)).toEqual(['b\ufffd', 'a/x']);
  expect(() => [...walk(scratch('old'), { onPassed: refuseUnnamed })]).toThrow(
    expect.objectContaining({ code: 'E_USAGE' }),
  );
  expect(() => [...walkFiles(scratch('old/a'), { onPassed: refuseUnnamed })]).toThrow('not UTF-8');
});

test('a folder that may not be read is trouble with the disk, not an empty one', () => {
  mkdirSync(scratch('closed'));
  chmodSync(scratch('closed'), 0);
  let code: string | undefined;
  try {
    namesIn(scratch('closed'));
  } catch (error) {
    code = codeOf(error);
  }
  // Root may read everything.
  expect(code).toBe(process.getuid?.() === 0 ? undefined : 'E_STORE');
});

test('a child is found whatever the case of its name, the exact one first', () => {
  mkdirSync(scratch('case', 'DATA'), { recursive: true });
  expect(childOf(scratch('case'), 'data')).toBe(scratch('case', 'DATA'));
  mkdirSync(scratch('case', 'data'));
  expect(childOf(scratch('case'), 'data')).toBe(scratch('case', 'data'));
  expect(childOf(scratch('case'), 'other')).toBeUndefined();
  expect(childOf(scratch('none'), 'data')).toBeUndefined();
});
