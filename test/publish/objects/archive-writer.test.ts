import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { encodeArchiveGroup } from '../../../src/formats/indices/archive-group.ts';
import { decodeArchiveIndex } from '../../../src/formats/indices/archive-index.ts';
import { ArchiveWriter } from '../../../src/publish/objects/archive-writer.ts';
import { objectPath } from '../../../src/store/layout.ts';
import { allSteps } from '../../support/all-steps.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

test('an archive has no more entries than an index in memory should, and the group is that of all indices', () => {
  const most = 2 ** 18;
  const archives = new ArchiveWriter({ out: scratch('cdn'), cdnPath: 'tpr/game' }, 'data', 2 ** 28 - 1);
  const bytes = Buffer.from('x');
  for (let i = 0; i <= most; i++) archives.add(i.toString(16).padStart(32, '0'), bytes);
  const made = allSteps(archives.finish());
  archives.close();
  const indices = made.archives.map(({ name, indexSize }) => {
    const path = objectPath({ cdnPath: 'tpr/game', kind: 'data', hash: name, suffix: '.index' });
    const index = decodeArchiveIndex(readFileSync(join(scratch('cdn'), path)), name);
    expect(index.bytes.length).toBe(indexSize);
    return index;
  });
  expect(indices.map(({ count }) => count).sort((a, b) => a - b)).toEqual([1, most]);
  expect(made.archiveGroup).toBe(encodeArchiveGroup(indices).name);
});

test('what was finished stays as it is when more objects follow', () => {
  const archives = new ArchiveWriter({ out: scratch('two'), cdnPath: 'tpr/game' }, 'data', 2 ** 28 - 1);
  archives.add('1'.repeat(32), Buffer.from('x'));
  const first = allSteps(archives.finish());
  archives.add('2'.repeat(32), Buffer.from('y'));
  const second = allSteps(archives.finish());
  archives.close();
  expect([first.archives.length, second.archives.length]).toEqual([1, 2]);
});

test('an archive that cannot be put in its place has its index: without one it would look like a loose object that is wrong', () => {
  const write = (out: string): string[] => {
    const archives = new ArchiveWriter({ out, cdnPath: 'tpr/game' }, 'patch', 2 ** 28 - 1);
    archives.add('1'.repeat(32), Buffer.from('x'));
    try {
      return allSteps(archives.finish()).archives.map(({ name }) =>
        objectPath({ cdnPath: 'tpr/game', kind: 'patch', hash: name }),
      );
    } finally {
      archives.close();
    }
  };
  const [path] = write(scratch('whole'));
  mkdirSync(scratch('blocked', `${path}/in the way`), { recursive: true });
  expect(() => write(scratch('blocked'))).toThrow(expect.objectContaining({ code: 'E_STORE' }));
  expect(existsSync(scratch('blocked', `${path}.index`))).toBe(true);
});
