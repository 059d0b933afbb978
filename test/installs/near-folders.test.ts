import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openSource } from '../../src/app/session/open-source.ts';
import { Session } from '../../src/app/session/session.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();

/** The hint of the error with which a folder is refused. */
async function hintOf(path: string): Promise<string> {
  const session = new Session({});
  const error = await openSource(session, path).then(
    () => ({ hint: 'it was opened' }),
    (thrown) => thrown as { hint: string },
  );
  await session.close();
  return error.hint;
}

function folders(name: string, paths: readonly string[]): string {
  const root = scratch(name);
  for (const path of paths) mkdirSync(join(root, path), { recursive: true });
  return root;
}

test('a web root names the folders in it that are laid out as a CDN', async () => {
  const root = folders('www', ['tpr/wow/config/aa', 'tpr/wow/data', 'tpr/fenris/config/bb', 'tpr/fenris/data', 'else']);
  const hint = await hintOf(root);
  expect(hint).toContain(join(root, 'tpr/wow'));
  expect(hint).toContain(join(root, 'tpr/fenris'));
  expect(hint).not.toContain('else');
});

test('a store is told to be one, with what to type', async () => {
  const root = folders('store', ['tpr/wow/config/aa', 'tpr/wow/data']);
  writeFileSync(join(root, 'ledger.db'), '');
  expect(await hintOf(root)).toMatch(/store of pakrat.*--store .*tpr\/wow/);
});

test('a part of an installed game or of a CDN folder names the whole', async () => {
  const cdn = folders('cdn', ['config/aa', 'data/bb']);
  expect(await hintOf(join(cdn, 'data'))).toBe(`Did you mean ${cdn}?`);
  const game = folders('game', ['Data/data', 'Data/indices']);
  writeFileSync(join(game, '.build.info'), 'Branch!STRING:0\nus\n');
  writeFileSync(join(game, 'Data/data/0000000001.idx'), '');
  expect(await hintOf(join(game, 'Data/data'))).toBe(`Did you mean ${join(game, 'Data')}?`);
  expect(await hintOf(join(game, 'Data/indices'))).toBe(`Did you mean ${join(game, 'Data')}?`);
});

test('any other folder is told what a source may be', async () => {
  expect(await hintOf(folders('other', ['a/b']))).toMatch(/Name a PAK file/);
});
