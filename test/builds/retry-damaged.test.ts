import { expect, test } from '@jest/globals';
import { Mending, retryDamaged } from '../../src/builds/retry-damaged.ts';
import { PakratError } from '../../src/core/errors.ts';

const damage = (derived: string): PakratError =>
  new PakratError('E_FORMAT_CHECKSUM', `${derived} is damaged`, { data: { derived } });

test('what is found damaged while something is mended is mended after that, once for all who found it', async () => {
  let mends = 0;
  const files = { a: 'damaged', b: 'damaged' };
  const opened = { a: 'damaged', b: 'damaged' };
  const mending = new Mending(async () => {
    mends += 1;
    Object.assign(opened, files);
    await new Promise(setImmediate);
  });
  // To find a file damaged removes it, and then it is made again.
  const work = (file: 'a' | 'b', after: number) => async (): Promise<string> => {
    for (let i = 0; i < after; i++) await null;
    if (opened[file] !== 'damaged') return opened[file];
    files[file] = 'whole';
    throw damage(file);
  };
  const tasks = [work('a', 0), work('b', 6), work('b', 6), work('b', 7)];
  const found = await Promise.all(tasks.map((task) => retryDamaged(task, () => mending.run())));
  expect(found).toEqual(['whole', 'whole', 'whole', 'whole']);
  expect(mends).toBe(2);
});

test('a file that is damaged a second time is told', async () => {
  const mending = new Mending(async () => {});
  const work = async (): Promise<never> => {
    throw damage('a');
  };
  await expect(retryDamaged(work, () => mending.run())).rejects.toMatchObject({ data: { derived: 'a' } });
});
