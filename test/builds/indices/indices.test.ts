import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { indexName, readIndex } from '../../../src/builds/indices/indices.ts';
import type { Objects } from '../../../src/builds/objects.ts';
import { encodeArchiveIndex } from '../../../src/formats/indices/archive-index.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

test('an index that another process lets go of before it is read is asked for once more', async () => {
  const { bytes, name } = encodeArchiveIndex([{ ekey: new Uint8Array(16).fill(7), size: 5, offset: 0, archive: 0 }]);
  writeFileSync(scratch('there'), bytes);
  const files = [scratch('gone'), scratch('there')];
  const objects = { index: async () => files.shift()! } as unknown as Objects;
  expect((await readIndex(objects, indexName('tpr/game', 'data', name))).count).toBe(1);
  expect(files).toEqual([]);
});
