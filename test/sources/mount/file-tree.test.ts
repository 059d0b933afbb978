import { readdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { openPak } from '../../../src/paks/index.ts';
import { buildTree, type FileTree } from '../../../src/sources/mount/file-tree.ts';
import { pakSource } from '../../../src/sources/paks/pak-source.ts';
import { quakePak } from '../../support/quake-pak.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const place = { temporary: scratch('tmp') };

/** A tree of files that have these names and nothing else. */
function treeOf(names: readonly string[]): Promise<FileTree> {
  const source = { list: () => names.map((name, index) => ({ name, index })) };
  return buildTree(source as unknown as Parameters<typeof buildTree>[0], place);
}

test('names from the folder itself or from the root have their place, names that lead out have none', async () => {
  const names = ['./a', '/b/c', 'd/./x', '../out', 'a//b'];
  const pak = await openPak(bytesSource(quakePak(names.map((name) => ({ name, content: name })))));
  const tree = await buildTree(pakSource(pak, 'x.pak'), place);
  expect(tree).toMatchObject({ files: 3, skipped: { count: 2, first: '../out' } });
  expect(tree.find('/a')).toMatchObject({ other: 'a', index: 0 });
  expect(tree.find('/b/c')).toMatchObject({ other: 'b/c', index: 1 });
  expect(tree.find('/d/x')).toMatchObject({ other: 'd/x', index: 2 });
  tree.close();
});

test('a file with the name of a folder, and a second one of a name, do not show', async () => {
  const tree = await treeOf(['a-b', 'a', 'b', 'a/x', 'b', '../out', 'b/y', 'a/x-y', 'a/x/z', 'c']);
  expect(tree).toMatchObject({ files: 5, skipped: { count: 5 } });
  expect(tree.namesIn('/')).toEqual({ folders: ['a', 'b'], files: ['a-b', 'c'] });
  expect(tree.namesIn('/a/')).toEqual({ folders: ['x'], files: ['x-y'] });
  expect(['/a', '/a/x', '/b/y', '/b/', '/none', '/a/n', '/c/d'].map((path) => tree.find(path))).toEqual([
    'folder',
    'folder',
    { name: 'b/y', other: 'b/y', index: 6, at: expect.any(Number), next: expect.any(Number) },
    'folder',
    undefined,
    undefined,
    undefined,
  ]);
  expect([tree.namesIn('/c'), tree.namesIn('/none')]).toEqual([undefined, undefined]);
  tree.close();
});

test('of a build a file is asked for by its id, where names are the same but for their case', async () => {
  const rows = [
    { name: 'A/one', file: { fileDataId: 7 } },
    { name: 'a/ONE', file: { fileDataId: 9 } },
    { name: 'no/id', file: {} },
  ];
  const source = { build: {}, list: () => rows } as unknown as Parameters<typeof buildTree>[0];
  const tree = await buildTree(source, place);
  expect(tree.find('/A/one')).toMatchObject({ other: 'fdid:7', index: undefined });
  expect(tree.find('/a/ONE')).toMatchObject({ other: 'fdid:9' });
  expect(tree.find('/no/id')).toMatchObject({ other: 'no/id' });
  tree.close();
});

test('every one of many names is found, and every folder has what lies in it, whatever the characters', async () => {
  const letters = ['a', 'b', 'ä', '\u{1f600}', '!', '~', 'a b', '\uff5e'];
  const names = Array.from({ length: 20_000 }, (_, i) =>
    Array.from(
      { length: 1 + (i % 4) },
      (_, k) => `${letters[(i * (13 + k * 5) + (i >> (k + 2))) % 8]}${k === i % 4 ? i : ''}`,
    ).join('/'),
  );
  const tree = await treeOf(names);
  const folders = new Map<string, Set<string>>([['', new Set()]]);
  names.forEach((name, i) => {
    const parts = name.split('/');
    parts.forEach((part, k) => {
      const above = parts.slice(0, k).join('/');
      const isFolder = k < parts.length - 1;
      folders.set(above, (folders.get(above) ?? new Set()).add(isFolder ? `${part}/` : part));
    });
    expect(tree.find(`/${name}`)).toMatchObject({ other: name, index: i });
  });
  expect(tree).toMatchObject({ files: names.length, skipped: { count: 0 } });
  for (const [folder, inside] of folders) {
    const { folders: inner = [], files = [] } = tree.namesIn(`/${folder}`) ?? {};
    const found = [...inner.map((name) => `${name}/`), ...files];
    expect(new Set(found)).toEqual(inside);
    expect(found).toHaveLength(inside.size);
  }
  expect(folders.size).toBeGreaterThan(50);
  tree.close();
});

test('nothing is left of a tree that is closed, nor of one that was interrupted', async () => {
  const signal = AbortSignal.abort();
  const source = { list: () => [{ name: 'a' }] } as unknown as Parameters<typeof buildTree>[0];
  await expect(buildTree(source, { ...place, signal })).rejects.toMatchObject({ code: 'E_ABORTED' });
  expect(readdirSync(place.temporary)).toEqual([]);
});
