import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findSourceName, openSource, parseSourceName, splitChoice } from '../../../src/app/session/open-source.ts';
import { Session } from '../../../src/app/session/session.ts';
import { verify } from '../../../src/app/verify.ts';
import { quakePak } from '../../support/quake-pak.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

test.each([
  ['wow', 'tact', 'wow'],
  ['wow_classic@1.15.7.61582', 'tact', 'wow_classic@1.15.7.61582'],
  ['tact:wow', 'tact', 'wow'],
  ['pak:wow', 'pak', 'wow'],
  ['casc:wow@eu', 'casc', 'wow@eu'],
  ['cdn:C:\\tpr\\wow', 'cdn', 'C:\\tpr\\wow'],
  // What looks like a path is one, there or not: the message is then about a file, and no service is asked for it.
  ['nowhere/pak0', 'pak', 'nowhere/pak0'],
  ['C:\\games\\id1', 'pak', 'C:\\games\\id1'],
  ['pak0.PAK', 'pak', 'pak0.PAK'],
  ['Stadium.Pack.Gbx', 'pak', 'Stadium.Pack.Gbx'],
  ['folder:x', 'tact', 'folder:x'],
])('%s is read as %s of %s', (text, scheme, rest) => {
  expect(parseSourceName(text)).toEqual({ scheme, rest });
});

test('a path that exists is local, whatever it is called', () => {
  const path = scratch('wow');
  writeFileSync(path, 'PACK');
  expect(parseSourceName(path)).toEqual({ scheme: 'pak', rest: path });
  expect(parseSourceName(`tact:${path}`)).toEqual({ scheme: 'tact', rest: path });
});

test('folders are told by what is in them, with or without a build behind them', () => {
  const [cdn, game] = [scratch('mirror'), scratch('game')];
  for (const folder of [`${cdn}/config/aa`, `${cdn}/data/bb`, `${game}/Data/data`]) {
    mkdirSync(folder, { recursive: true });
  }
  writeFileSync(`${game}/.build.info`, 'Branch!STRING:0\nus\n');
  expect(parseSourceName(cdn)).toEqual({ scheme: 'cdn', rest: cdn });
  expect(parseSourceName(`${cdn}@abcd`)).toEqual({ scheme: 'cdn', rest: `${cdn}@abcd` });
  expect(parseSourceName(game)).toEqual({ scheme: 'casc', rest: game });
  expect(parseSourceName(`${game}@wow`)).toEqual({ scheme: 'casc', rest: `${game}@wow` });
});

test('what stands behind the last @ is the build, unless there is such a path', () => {
  expect(splitChoice('games/wow@eu@1.2')).toEqual({ path: 'games/wow@eu', choice: '1.2' });
  expect(splitChoice('games/wow')).toEqual({ path: 'games/wow', choice: undefined });
  expect(splitChoice('@1.2')).toEqual({ path: '@1.2', choice: undefined });
  const odd = scratch('user@host');
  mkdirSync(odd);
  expect(splitChoice(odd)).toEqual({ path: odd, choice: undefined });
  expect(splitChoice(`${odd}@1.2`)).toEqual({ path: odd, choice: '1.2' });
});

describe('a folder that has the name of a product', () => {
  const here = process.cwd();
  beforeAll(() => {
    const folder = scratch('here');
    mkdirSync(`${folder}/wow/notes`, { recursive: true });
    mkdirSync(`${folder}/id1`);
    mkdirSync(`${folder}/mirror/config/aa`, { recursive: true });
    mkdirSync(`${folder}/mirror/data`);
    writeFileSync(`${folder}/id1/pak0.pak`, quakePak([{ name: 'a', content: 'a' }]));
    process.chdir(folder);
  });
  afterAll(() => process.chdir(here));

  test.each([
    ['wow', 'tact'],
    ['wow@1.2.3', 'tact'],
    ['./wow', 'pak'],
    ['pak:wow', 'pak'],
    ['id1', 'pak'],
    ['id1@1.2.3', 'tact'],
    ['mirror', 'cdn'],
    ['mirror@abcd', 'cdn'],
  ])('stands in its way only if it is a source: %s is of %s', async (text, scheme) => {
    expect((await findSourceName(text)).scheme).toBe(scheme);
  });

  test('is named where the product is not found', async () => {
    const session = new Session({ store: scratch('store'), offline: true });
    const hint = expect.stringContaining('The folder wow here holds no PAK');
    await expect(openSource(session, 'wow')).rejects.toMatchObject({ hint });
    await expect(verify(session, 'wow')).rejects.toMatchObject({ hint });
    await expect(openSource(session, 'nowow')).rejects.toMatchObject({ hint: expect.not.stringContaining('folder') });
    await session.close();
  });
});
