import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';

/** A fresh folder for the tests of one file, gone after them. Gives back a function that joins paths to it. */
export function scratchFolder(): (...parts: string[]) => string {
  let folder: string | undefined;
  afterAll(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });
  return (...parts) => {
    // Not before: where all tests of a file are skipped nothing is called after them.
    folder ??= mkdtempSync(join(tmpdir(), 'pakrat-test-'));
    return join(folder, ...parts);
  };
}
