import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { unreal } from '../../../src/paks/unreal/index.ts';
import { packed, packFile } from '../../support/pak-sources.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const empty = new Uint8Array(0);

test('a file is told by its end, and a folder by a file in it, however deep', async () => {
  const bytes = await packed(async (sink) => unreal.pack?.([packFile('a.txt', 'a')], sink));
  expect(unreal.matches(empty, bytes.subarray(-4096))).toBe(true);
  expect(unreal.matches(bytes, empty)).toBe(false);
  expect(unreal.matches(empty, bytes.subarray(-4096, -1))).toBe(false);
  writeFileSync(scratch('other.pak'), 'no PAK of Unreal');
  expect(await unreal.folders?.matches(scratch(), {})).toBe(false);
  writeFileSync(scratch('Game-Windows.PAK'), bytes);
  expect(await unreal.folders?.matches(scratch(), {})).toBe(true);
});
