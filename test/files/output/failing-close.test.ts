import * as fs from 'node:fs';
import { afterAll, expect, test } from '@jest/globals';
import { scratchFolder } from '../../support/scratch.ts';
import { systemError, watchFs } from '../../support/watched-fs.ts';

/* A network drive may say only when a file is closed that it had no room for it. */

const scratch = scratchFolder();
const watched = watchFs(scratch());
const { writeAtOnce, writeOutput, writeWhole } = await import('../../../src/files/output/output-folder.ts');
afterAll(() => {
  watched.fail = () => undefined;
});

async function* later(): AsyncGenerator<Uint8Array> {
  yield Uint8Array.of(1);
}
function* now(): Generator<Uint8Array, boolean> {
  yield Uint8Array.of(1);
  return true;
}

test.each([
  ['whole', async (file: string) => writeWhole(file, Uint8Array.of(1))],
  ['in pieces', (file: string) => writeOutput(file, later())],
  ['in pieces at once', async (file: string) => writeAtOnce(file, now())],
])('a file that was written %s and cannot be closed is closed once, and leaves nothing behind', async (_, write) => {
  let closed = 0;
  watched.fail = (call) => {
    if (call !== 'close') return undefined;
    closed += 1;
    return systemError('EDQUOT');
  };
  // Its number may be that of a file of another thread already.
  await expect(write(scratch('file'))).rejects.toMatchObject({ code: 'UNKNOWN' });
  expect(closed).toBe(1);
  expect(fs.readdirSync(scratch())).toEqual([]);
});
