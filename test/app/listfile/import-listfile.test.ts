import { statSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { importListfile } from '../../../src/app/listfile/import-listfile.ts';
import { Session } from '../../../src/app/session/session.ts';
import { ListfileIndex } from '../../../src/builds/listfile/listfile-index.ts';
import type { Progress } from '../../../src/core/progress.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

test('a list of several pieces is read whole, and one that is not there is told as such', async () => {
  const list = scratch('list.csv');
  const count = 60_000;
  writeFileSync(list, Array.from({ length: count }, (_, i) => `${i};folder/of/names/${i}.blp\n`).join(''));
  const session = new Session({ store: scratch('store'), offline: true, threads: 0 });
  const events: Progress[] = [];
  const onProgress = (event: Progress) => void events.push(event);
  expect(await importListfile(session, list, { onProgress })).toMatchObject({ rows: count, ids: count });
  const { size } = statSync(list);
  expect(events[0]).toMatchObject({ type: 'bytes', phase: 'names', done: 1 << 20, total: size });
  expect(events.slice(-2)).toMatchObject([{ done: size }, { type: 'step', step: 'sorting names' }]);
  await expect(importListfile(session, scratch('none.csv'))).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  const { layout } = await session.store({ create: false });
  const index = await ListfileIndex.open(layout);
  expect([index?.idOf('folder/of/names/0.blp'), index?.idOf('folder/of/names/59999.blp')]).toEqual([0, 59_999]);
  index?.close();
  await session.close();
});
