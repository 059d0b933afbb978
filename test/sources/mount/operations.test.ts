import { expect, test } from '@jest/globals';
import { bytesSource } from '../../../src/core/byte-source.ts';
import { openPak } from '../../../src/paks/index.ts';
import { buildTree } from '../../../src/sources/mount/file-tree.ts';
import { operations } from '../../../src/sources/mount/operations.ts';
import { pakSource } from '../../../src/sources/paks/pak-source.ts';
import { quakePak } from '../../support/quake-pak.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

test('a folder is listed with the kind of each name, as each is when it is asked about by itself', async () => {
  const names = ['b/file', 'b/c/deep', 'b/other', 'top', 'x/b'];
  const source = pakSource(
    await openPak(bytesSource(quakePak(names.map((name) => ({ name, content: name }))))),
    'x.pak',
  );
  const { readdir, getattr } = operations(source, await buildTree(source, { temporary: scratch('tmp') }));
  const kindOf = (path: string): Promise<number> =>
    new Promise((resolve) => getattr(path, (_, stat) => resolve(stat?.mode ?? 0)));
  for (const [folder, inside] of Object.entries({ '': ['b', 'x', 'top'], '/b': ['c', 'file', 'other'] })) {
    const listed = await new Promise<unknown>((resolve) =>
      readdir(folder || '/', (code, found, kinds) => resolve([code, found, kinds?.map(({ mode }) => mode)])),
    );
    expect(listed).toEqual([0, inside, await Promise.all(inside.map((name) => kindOf(`${folder}/${name}`)))]);
  }
  readdir('/top', (code) => expect(code).toBe(-2));
  await source.close();
});
