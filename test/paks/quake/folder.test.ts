import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Pak } from '../../../src/paks/pak.ts';
import { isQuakeFolder, openQuakeFolder, planQuakeSearch } from '../../../src/paks/quake/folder.ts';
import type { QuakeOptions } from '../../../src/paks/quake/options.ts';
import { quakePak } from '../../support/pak-quake.ts';
import { gather } from '../../support/pak-sources.ts';
import { scratchFolder } from '../../support/scratch.ts';

const folder = scratchFolder();
let number = 0;
let root = '';
beforeEach(() => {
  number += 1;
  root = folder(`tree-${number}`);
});

/** Puts files into the tree; an object becomes a PAK with these files. */
function plant(files: Record<string, string | Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    const rows =
      typeof content === 'string' ? [] : Object.entries(content).map(([row, text]) => ({ name: row, content: text }));
    writeFileSync(path, typeof content === 'string' ? content : quakePak(rows));
  }
}

const labels = (path: string, options?: QuakeOptions): string[] =>
  planQuakeSearch(path, options).steps.map(({ label }) => label);

async function text(pak: Pak, name: string): Promise<string | undefined> {
  const entry = pak.find(name);
  return entry && Buffer.from(await gather(pak.read(entry))).toString();
}

const registered = { 'gfx/pop.lmp': 'x'.repeat(256) };

describe('search order of Quake', () => {
  test('higher numbers first, loose files last, up to the first gap', () => {
    plant({ 'id1/pak0.pak': {}, 'id1/PAK1.PAK': {}, 'id1/pak3.pak': {}, 'id1/extra.pak': {}, 'id1/autoexec.cfg': '' });
    expect(labels(join(root, 'id1'))).toEqual(['id1/PAK1.PAK', 'id1/pak0.pak', 'id1']);
    const notes = planQuakeSearch(join(root, 'id1')).notes.join('\n');
    expect(notes).toMatch(/pak3\.pak: pak2\.pak is missing/);
    expect(notes).toMatch(/extra\.pak: it is not named/);
  });

  test('a lower-case name counts where two differ by case only', () => {
    plant({ 'id1/PAK0.PAK': {}, 'id1/pak0.pak': {} });
    const { steps, notes } = planQuakeSearch(join(root, 'id1'));
    expect(steps.map(({ label }) => label)).toEqual(['id1/pak0.pak', 'id1']);
    expect(notes.join()).toMatch(/PAK0\.PAK: pak0\.pak takes its place/);
  });

  test('a folder around id1 is its base, and games come over it in the order of the engine', () => {
    plant({
      'id1/pak0.pak': {},
      'Hipnotic/pak0.pak': {},
      'rogue/pak0.pak': {},
      'mymod/pak0.pak': {},
      'mymod/pak1.pak': {},
    });
    expect(labels(root, { games: ['mymod', 'hipnotic', 'ROGUE'] })).toEqual([
      'mymod/pak1.pak',
      'mymod/pak0.pak',
      'mymod',
      'Hipnotic/pak0.pak',
      'Hipnotic',
      'rogue/pak0.pak',
      'rogue',
      'id1/pak0.pak',
      'id1',
    ]);
    expect(labels(join(root, 'id1'), { games: ['mymod'] })).toEqual(labels(root, { games: ['mymod'] }));
  });

  test.each(['../id1', 'a/b', 'a\\b', 'c:', '..', ''])('a game called %j is refused', (game) => {
    plant({ 'id1/pak0.pak': {} });
    expect(() => planQuakeSearch(root, { games: [game] })).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
  });

  test('a game or folder that is not there is E_NOT_FOUND', () => {
    plant({ 'id1/pak0.pak': {} });
    expect(() => planQuakeSearch(root, { games: ['nope'] })).toThrow(expect.objectContaining({ code: 'E_NOT_FOUND' }));
    expect(() => planQuakeSearch(join(root, 'nope'))).toThrow(expect.objectContaining({ code: 'E_NOT_FOUND' }));
  });

  test('QuakeSpasm has its own PAK between pak0 and pak1 of id1', () => {
    plant({ 'id1/pak0.pak': {}, 'id1/pak1.pak': {}, 'mod/pak0.pak': {}, 'quakespasm.pak': {} });
    expect(labels(root, { engine: 'quakespasm', games: ['mod'] })).toEqual([
      'mod/pak0.pak',
      'mod',
      'id1/pak1.pak',
      'quakespasm.pak',
      'id1/pak0.pak',
      'id1',
    ]);
    expect(labels(root)).not.toContain('quakespasm.pak');
  });
});

describe('search order of Quake II', () => {
  test('gaps are allowed, other PAKs come first', () => {
    plant({
      'baseq2/pak0.pak': {},
      'baseq2/pak2.pak': {},
      'baseq2/pak10.pak': {},
      'baseq2/aaa.pak': {},
      'baseq2/zzz.pak': {},
      'baseq2/x.pk3': '',
    });
    const { engine, steps, notes } = planQuakeSearch(root);
    expect(engine).toBe('quake2');
    expect(steps.map(({ label }) => label.replace('baseq2/', ''))).toEqual([
      'zzz.pak',
      'aaa.pak',
      'pak10.pak',
      'pak2.pak',
      'pak0.pak',
      'baseq2',
    ]);
    expect(notes.join()).toMatch(/1 pk3/);
  });

  test('the engine can be chosen', () => {
    plant({ 'id1/pak0.pak': {}, 'id1/pak2.pak': {} });
    expect(labels(root, { engine: 'quake2' })).toEqual(['id1/pak2.pak', 'id1/pak0.pak', 'id1']);
  });

  test('names are compared without case', async () => {
    plant({ 'baseq2/pak0.pak': { 'maps/A.bsp': 'old' }, 'baseq2/pak1.pak': { 'Maps/a.bsp': 'new' } });
    const pak = await openQuakeFolder(root);
    expect(await text(pak, 'MAPS/A.BSP')).toBe('new');
    expect(pak.entries.filter(({ hidden }) => hidden === undefined).map(({ name }) => name)).toEqual(['Maps/a.bsp']);
    await pak.close();
  });
});

describe('files', () => {
  test('come from the first step that has them; what is hidden says by what', async () => {
    plant({
      'id1/pak0.pak': { 'default.cfg': 'pak0', 'progs.dat': 'pak0' },
      'id1/pak1.pak': { 'default.cfg': 'pak1', ...registered },
      'id1/default.cfg': 'loose',
      'id1/readme.txt': 'loose',
      'mod/default.cfg': 'mod',
    });
    const pak = await openQuakeFolder(root);
    expect(await text(pak, 'default.cfg')).toBe('pak1');
    expect(await text(pak, 'progs.dat')).toBe('pak0');
    expect(await text(pak, 'readme.txt')).toBe('loose');
    expect(pak.find('nothing')).toBeUndefined();
    const rows = pak.entries
      .filter(({ name }) => name === 'default.cfg')
      .map(({ origin, hidden, note }) => [origin, hidden, note]);
    expect(rows).toEqual([
      ['id1/pak1.pak', undefined, undefined],
      ['id1/pak0.pak', 'shadowed', 'shadowed by id1/pak1.pak'],
      ['id1', 'shadowed', 'shadowed by id1/pak1.pak'],
    ]);
    for (const entry of pak.entries) expect(await pak.verify(entry)).toBeUndefined();
    const modded = await openQuakeFolder(root, { games: ['mod'] });
    expect(await text(modded, 'default.cfg')).toBe('mod');
    await pak.close();
    await modded.close();
  });

  test('PAKs of the folder are no files of it; nested ones and links to files are, links to folders are not', async () => {
    plant({
      'id1/pak0.pak': registered,
      'id1/maps/pak0.pak': 'just a name',
      'id1/save.sav': 's',
      'elsewhere/secret': 'x',
    });
    symlinkSync(join(root, 'elsewhere'), join(root, 'id1/link'));
    symlinkSync(join(root, 'elsewhere/secret'), join(root, 'id1/linked'));
    const pak = await openQuakeFolder(root);
    const loose = pak.entries.filter(({ origin }) => origin === 'id1').map(({ name }) => name);
    expect(loose).toEqual(['linked', 'maps/pak0.pak', 'save.sav']);
    await pak.close();
  });

  test('compare exactly in Quake, else by ignoring case with a note', async () => {
    plant({ 'id1/pak0.pak': { 'Maps/E1.bsp': 'upper', ...registered }, 'id1/maps/e1.bsp': 'lower' });
    const pak = await openQuakeFolder(root);
    expect(await text(pak, 'maps/e1.bsp')).toBe('lower');
    expect(await text(pak, 'MAPS/E1.BSP')).toBe('upper');
    expect(pak.find('MAPS/E1.BSP')?.note).toMatch(/ignoring case/);
    await pak.close();
  });

  test('parts of loose files and of entries can be read', async () => {
    plant({ 'id1/pak0.pak': { 'a.txt': '0123456789', ...registered }, 'id1/b.txt': 'abcdefghij' });
    const pak = await openQuakeFolder(root);
    for (const [name, part] of [
      ['a.txt', '345'],
      ['b.txt', 'def'],
    ] as const) {
      expect(Buffer.from(await gather(pak.readRange!(pak.find(name)!, 3, 3))).toString()).toBe(part);
    }
    await expect(gather(pak.readRange!(pak.find('b.txt')!, 9, 2))).rejects.toMatchObject({ code: 'E_FORMAT_RANGE' });
    await pak.close();
  });
});

describe('registered and modified', () => {
  test('shareware never opens loose files in sub-folders', async () => {
    plant({ 'id1/pak0.pak': { 'progs.dat': 'x' }, 'id1/maps/new.bsp': 'loose', 'id1/top.cfg': 'loose' });
    const pak = await openQuakeFolder(root);
    expect(pak.facts).toMatchObject({ registered: false, modified: true });
    expect(pak.find('maps/new.bsp')).toBeUndefined();
    expect(await text(pak, 'top.cfg')).toBe('loose');
    expect(pak.notes.join()).toMatch(/1 loose files in sub-folders/);
    expect(pak.notes.join()).toMatch(/does not start/);
    await pak.close();
  });

  test('with gfx/pop.lmp everything is there', async () => {
    plant({ 'id1/pak0.pak': { 'progs.dat': 'x' }, 'id1/pak1.pak': registered, 'id1/maps/new.bsp': 'loose' });
    const pak = await openQuakeFolder(root);
    expect(pak.facts).toMatchObject({ registered: true, modified: true, engine: 'quake' });
    expect(await text(pak, 'maps/new.bsp')).toBe('loose');
    expect(pak.notes).toEqual([]);
    await pak.close();
  });
});

test('what is a Quake folder', () => {
  plant({
    'one/PAK0.PAK': {},
    'two/id1/pak0.pak': {},
    'three/pakchunk0-WindowsNoEditor.pak': '',
    'four/pak01.pak': '',
  });
  const isOne = ['one', 'two', 'three', 'four'].map((name) => isQuakeFolder(join(root, name)));
  expect(isOne).toEqual([true, true, false, false]);
});

test('a PAK that is damaged is named, and nothing stays open', async () => {
  plant({ 'id1/pak0.pak': registered, 'id1/pak1.pak': 'PACKxx' });
  await expect(openQuakeFolder(root)).rejects.toMatchObject({
    code: 'E_FORMAT_TRUNCATED',
    message: expect.stringContaining('id1/pak1.pak'),
  });
});
