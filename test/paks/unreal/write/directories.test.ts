import { expect, test } from '@jest/globals';
import { Spool } from '../../../../src/files/spool.ts';
import {
  type Directories,
  directoriesOf,
  SortedDirectories,
  writeDirectories,
} from '../../../../src/paks/unreal/write/directories.ts';

const names = [
  'a',
  'a-b/x',
  'a/b-x',
  'a/b/c/d',
  'a/b0',
  'a/z',
  'deep/er/still/x',
  'a\u{1f600}/\uff5e',
  'a\uff5e/b',
].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
const located = names.map((name, location) => ({ name, location: location === 2 ? -0x80000000 : location }));

function listed(directories: Directories): unknown[] {
  return Array.from(directories, ({ name, count, files }) => [name, count, [...files].map((file) => ({ ...file }))]);
}

test('files that lie on disk are in the directories that those in memory are in', () => {
  const sorted = new SortedDirectories(undefined);
  for (const file of located) sorted.add(file);
  const inMemory = directoriesOf(located);
  expect(listed(sorted)).toEqual(listed(inMemory));
  expect(sorted.count).toBe(inMemory.count);
  expect(Array.from(inMemory, ({ name, count }) => [name, count])).toEqual([
    ['', 1],
    ['a-b/', 1],
    ['a/', 3],
    ['a/b/', 0],
    ['a/b/c/', 1],
    ['a\uff5e/', 1],
    ['a\u{1f600}/', 1],
    ['deep/', 0],
    ['deep/er/', 0],
    ['deep/er/still/', 1],
  ]);
  sorted.close();
});

test('directories of an older PAK come first, as they are, and new ones behind them', () => {
  const order = ['/', 'z/', 'a/b/c/'];
  expect(Array.from(directoriesOf(located.slice(0, 4), order), ({ name }) => name)).toEqual([
    '',
    'z/',
    'a/b/c/',
    'a-b/',
    'a/',
  ]);
});

test('writing ends as soon as it is told to', async () => {
  const writing = writeDirectories(new Spool(undefined), directoriesOf(located), {
    version: 11,
    signal: AbortSignal.abort(),
  });
  await expect(writing).rejects.toMatchObject({ code: 'E_ABORTED' });
});
