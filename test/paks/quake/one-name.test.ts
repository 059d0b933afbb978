import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import type { Pak } from '../../../src/paks/pak.ts';
import { openQuakeFolder } from '../../../src/paks/quake/folder.ts';
import type { QuakeEngine } from '../../../src/paks/quake/options.ts';
import { quakePak } from '../../support/pak-quake.ts';
import { gather } from '../../support/pak-sources.ts';
import { scratchFolder } from '../../support/scratch.ts';

const folder = scratchFolder();
let number = 0;
let root = '';
beforeEach(() => {
  root = folder(`tree-${number++}`);
});

/** A game with names that are alike, in PAKs and loose, and with links of all kinds. */
function plant({ isRegistered, isOdd }: { isRegistered: boolean; isOdd: boolean }): void {
  const files = {
    'id1/maps/a.bsp': 'loose',
    'id1/maps/A.bsp': 'LOOSE',
    'id1/MAPS/a.bsp': 'loose in MAPS',
    'id1/MAPS/only.bsp': 'only',
    'id1/maps/both.bsp': 'loose both',
    'id1/Config.cfg': 'config',
    'id1/deep/er/x': 'x',
    'id1/deep/er.x': 'er.x',
    'id1/odd.pk3': 'no file of the game',
    'id1/maps/in.pak': 'loose, for it is in a folder',
    'outside/secret': 'secret',
    ...(isRegistered && { 'id1/gfx/pop.lmp': 'x'.repeat(256) }),
    ...(isOdd && { 'id1/deep\\er\\x': 'back-slashes', 'id1/maps\\a.bsp': 'more', 'id1/deep\\odd': 'odd' }),
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  const rows = [
    { name: 'maps/both.bsp', content: 'packed both' },
    { name: 'maps/Packed.bsp', content: 'packed' },
    { name: 'maps/Packed.bsp', content: 'packed again' },
  ];
  writeFileSync(join(root, 'id1/pak0.pak'), quakePak(rows));
  symlinkSync(join(root, 'outside'), join(root, 'id1/way-out'));
  symlinkSync(join(root, 'outside/secret'), join(root, 'id1/link'));
  symlinkSync('nowhere', join(root, 'id1/broken'));
}

const asked = [
  'maps/a.bsp',
  'maps/A.bsp',
  'MAPS/A.BSP',
  'Maps/a.bsp',
  'MAPS/only.bsp',
  'maps/only.bsp',
  'maps/both.bsp',
  'maps/BOTH.bsp',
  'maps/packed.bsp',
  'maps/Packed.bsp',
  'config.cfg',
  './Config.cfg',
  '/Config.cfg',
  'deep/er/x',
  'deep\\er\\x',
  'deep/er',
  'deep/er/x/y',
  'deep/odd',
  'deep/er.x',
  'deep//er/x',
  'deep/../Config.cfg',
  '../outside/secret',
  'way-out/secret',
  'way-out',
  'link',
  'LINK',
  'broken',
  'odd.pk3',
  'pak0.pak',
  'maps/in.pak',
  'gfx/pop.lmp',
  'none',
  '',
  '/',
  '.',
  '..',
];

/** All that is known of the file that a name gives. */
async function found(pak: Pak, name: string): Promise<unknown> {
  const entry = pak.find(name);
  if (entry === undefined) return undefined;
  const content = Buffer.from(await gather(pak.read(entry))).toString();
  const { size, storedSize, offset, method, encrypted, mtime, hidden, origin, note, index } = entry;
  const facts = { name: entry.name, size, storedSize, offset, method, encrypted, mtime, hidden, origin, note };
  return { ...facts, content, status: await pak.status?.(entry), problem: await pak.verify(entry), index };
}

const cases = ['quake', 'quakespasm', 'quake2'].flatMap((engine) =>
  [true, false].flatMap((isRegistered) =>
    [true, false].map((isOdd) => ({ engine: engine as QuakeEngine, isRegistered, isOdd })),
  ),
);

test.each(cases)('a name gives the same file whether all are listed before or not: %j', async ({ engine, ...game }) => {
  plant(game);
  const open = (): Promise<Pak> => openQuakeFolder(join(root, 'id1'), { engine });
  const listed = await open();
  expect(listed.entries.length).toBeGreaterThan(4);
  const together = await open();
  let hits = 0;
  for (const name of asked) {
    const wanted = await found(listed, name);
    const alone = await open();
    expect([name, await found(alone, name)]).toEqual([name, wanted]);
    expect([name, await found(together, name)]).toEqual([name, wanted]);
    if (wanted !== undefined) hits += 1;
    await alone.close();
  }
  expect(hits).toBeGreaterThan(game.isRegistered ? 12 : 4);
  await listed.close();
  await together.close();
});

test('a file is found and read before anything is listed', async () => {
  plant({ isRegistered: true, isOdd: false });
  const pak = await openQuakeFolder(join(root, 'id1'));
  const entry = pak.find('maps/A.bsp')!;
  expect(Buffer.from(await gather(pak.read(entry))).toString()).toBe('LOOSE');
  writeFileSync(join(root, 'id1/deep/new'), 'new');
  expect(pak.entries.map(({ name }) => name)).toContain('deep/new');
  await pak.close();
});
