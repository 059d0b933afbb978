import { expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { openPak } from '../../../src/paks/index.ts';
import { buildTree, findInTree } from '../../../src/sources/mount/file-tree.ts';
import { pakSource } from '../../../src/sources/paks/pak-source.ts';
import { quakePak } from '../../support/quake-pak.ts';

test('names from the folder itself or from the root have their place, names that lead out have none', async () => {
  const names = ['./a', '/b/c', 'd/./x', '../out', 'a//b'];
  const pak = await openPak(bytesSource(quakePak(names.map((name) => ({ name, content: name })))));
  const tree = await buildTree(pakSource(pak, 'x.pak'));
  expect(tree).toMatchObject({ files: 3, skipped: ['../out', 'a//b'] });
  expect(findInTree(tree, '/a')).toMatchObject({ name: 'a' });
  expect(findInTree(tree, '/b/c')).toMatchObject({ name: 'b/c' });
  expect(findInTree(tree, '/d/x')).toMatchObject({ name: 'd/x' });
});
