import { existsSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { readGiven } from '../../../src/files/given/given-file.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

test('a small file that a person names is read whole', async () => {
  writeFileSync(scratch('keys.txt'), 'some keys');
  expect(Buffer.from(await readGiven(scratch('keys.txt'))).toString()).toBe('some keys');
});

test.each(['large', '/dev/zero'])(
  'one that is large, or has no end, is refused before it fills the memory: %s',
  async (name) => {
    const path = name === 'large' ? scratch(name) : name;
    if (name === 'large') {
      writeFileSync(path, '');
      truncateSync(path, 40 * 1024 ** 3);
    }
    if (!existsSync(path)) return;
    await expect(readGiven(path)).rejects.toMatchObject({
      code: 'E_FORMAT_RANGE',
      message: expect.stringContaining(path),
    });
  },
);
