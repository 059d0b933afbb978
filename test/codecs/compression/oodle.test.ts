import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { loadOodle } from '../../../src/codecs/compression/oodle.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

/** A module of the user's own. */
function moduleOf(name: string, code: string): string {
  const path = scratch(`${name}.mjs`);
  writeFileSync(path, code);
  return path;
}

test('a module of the user decodes, and what it gives is checked', async () => {
  const decode = await loadOodle(
    moduleOf(
      'decoder',
      'export const decompress = (bytes) => { if (bytes[0] === 9) throw new Error("bad"); return bytes; };',
    ),
  );
  expect(decode(Uint8Array.of(1, 2), 2)).toEqual(Uint8Array.of(1, 2));
  expect(() => decode(Uint8Array.of(1, 2), 3)).toThrow(expect.objectContaining({ code: 'E_FORMAT_TRUNCATED' }));
  expect(() => decode(Uint8Array.of(9), 1)).toThrow(expect.objectContaining({ code: 'E_FORMAT' }));
});

test('a module that is not there, or has no such function, is told', async () => {
  await expect(loadOodle(scratch('none.mjs'))).rejects.toMatchObject({ code: 'E_UNSUPPORTED' });
  await expect(loadOodle(moduleOf('empty', 'export const other = 1;'))).rejects.toMatchObject({ code: 'E_USAGE' });
});
