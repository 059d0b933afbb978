import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { quake } from '../../../src/paks/quake/index.ts';
import { quakePak } from '../../support/pak-quake.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

test('a file is told by the magic of Quake or of SiN', () => {
  const matches = (text: string): boolean => quake.matches(new TextEncoder().encode(text), new Uint8Array(0));
  expect(['PACK', 'SPAK', 'pack', 'PAC', 'XPACK'].map(matches)).toEqual([true, true, false, false, false]);
});

test('a folder is told by what is in it, or by an engine or a game that is asked for', async () => {
  mkdirSync(scratch('mod'));
  writeFileSync(scratch('mod', 'extra.pak'), quakePak([{ name: 'a.txt', content: 'a' }]));
  const matches = (options: object): Promise<boolean> | undefined => quake.folders?.matches(scratch('mod'), options);
  expect(await matches({})).toBe(false);
  expect(await matches({ games: [] })).toBe(false);
  expect(await matches({ engine: 'quake2' })).toBe(true);
  expect(await matches({ games: ['rogue'] })).toBe(true);
  const pak = await quake.folders?.open(scratch('mod'), { engine: 'quake2' });
  expect(pak?.entries.map(({ name, origin }) => [name, origin])).toEqual([['a.txt', 'mod/extra.pak']]);
  await pak?.close();
});
