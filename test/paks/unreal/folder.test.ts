import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { openShared } from '../../../src/paks/index.ts';
import { eachEntry, shareDirectory } from '../../../src/paks/many-entries.ts';
import type { Pak } from '../../../src/paks/pak.ts';
import { isUnrealFolder, openUnrealFolder, pakOrder, sortPaks } from '../../../src/paks/unreal/folder.ts';
import { mountedName } from '../../../src/paks/unreal/index/index-rows.ts';
import { conformancePath, describeConformance } from '../../support/conformance.ts';
import { quakePak } from '../../support/pak-quake.ts';
import { contentHash, gather } from '../../support/pak-sources.ts';
import { legacyPak, unrealPak } from '../../support/pak-unreal.ts';
import { scratchFolder } from '../../support/scratch.ts';

const folder = scratchFolder();
let number = 0;
let root = '';
beforeEach(() => {
  number += 1;
  root = folder(`game-${number}`, 'Shooter', 'Content', 'Paks');
});

function plant(files: Record<string, Uint8Array>): void {
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), bytes);
  }
}

/** A PAK of version 11 with these texts. */
const pak = (texts: Record<string, string>, mountPoint = '../../../Shooter/'): Uint8Array =>
  unrealPak(
    Object.entries(texts).map(([name, text]) => ({ name, content: Buffer.from(text) })),
    { version: 11, mountPoint },
  );

async function text(source: Pak, name: string): Promise<string | undefined> {
  const entry = source.find(name);
  return entry && Buffer.from(await gather(source.read(entry))).toString();
}

describe('order', () => {
  test.each([
    ['/games/Shooter/Content/Paks/pakchunk0.pak', 3],
    ['/games/Shooter/Content/Paks/Shooter-WindowsNoEditor.pak', 4],
    ['C:\\games\\Shooter\\Content\\Paks\\shooter-Win.pak', 4],
    ['/games/Engine/Content/Paks/Engine-x.pak', 2],
    ['/games/Shooter/Saved/Paks/dlc.pak', 1],
    ['/somewhere/else.pak', 3],
    ['/games/Shooter/Content/Paks/Shooter-Win_P.pak', 104],
    ['/games/Shooter/Content/Paks/Shooter-Win_0_P.pak', 104],
    ['/games/Shooter/Content/Paks/Shooter-Win_1_P.pak', 204],
    ['/games/Shooter/Content/Paks/pakchunk0_12_P.pak', 1303],
    ['/games/Shooter/Content/Paks/~mods/pakchunk0_p.PAK', 103],
    ['/games/Shooter/Content/Paks/STOP.pak', 3],
  ])('%s has order %d', (path, order) => {
    expect(pakOrder(path)).toBe(order);
  });

  test('equal orders go by path, the last first', () => {
    const paks = ['/p/a.pak', '/p/Z.pak', '/p/m_P.pak', '/p/~mods/b.pak', '/p/a_2_P.pak'];
    expect(sortPaks(paks)).toEqual(['/p/a_2_P.pak', '/p/m_P.pak', '/p/~mods/b.pak', '/p/Z.pak', '/p/a.pak']);
  });
});

test.each([
  ['../../../Game/', 'Content/a', 'Game/Content/a'],
  ['../../../', 'a', 'a'],
  ['', 'a/b', 'a/b'],
  ['D:/Build/Game/', 'x', 'D/Build/Game/x'],
  ['../../../Game/Content/../Maps/', './x', 'Game/Maps/x'],
  ['..\\..\\Game\\', 'x', 'Game/x'],
])('mount point %s and %s are %s', (mountPoint, name, whole) => {
  expect(mountedName(mountPoint, name)).toBe(whole);
});

describe('a folder of PAKs', () => {
  test('gives the file of the newest patch, and says what is hidden by what', async () => {
    plant({
      'Shooter-Win.pak': pak({
        'Content/a.uasset': 'base a',
        'Content/b.uasset': 'base b',
        'Content/c.uasset': 'base c',
      }),
      'Shooter-Win_0_P.pak': pak({ 'a.uasset': 'patch 0', 'b.uasset': 'patch 0' }, '../../../Shooter/Content/'),
      'Shooter-Win_1_P.pak': pak({ 'CONTENT/A.uasset': 'patch 1' }),
      'pakchunk9.pak': pak({ 'Content/c.uasset': 'chunk 9' }),
    });
    const game = await openUnrealFolder(root);
    expect(await text(game, 'Shooter/Content/a.uasset')).toBe('patch 1');
    expect(await text(game, 'shooter/content/B.UASSET')).toBe('patch 0');
    expect(await text(game, '../../../Shooter/Content/c.uasset')).toBe('base c');
    expect(await text(game, 'Shooter/Content/d.uasset')).toBeUndefined();
    const rows = game.entries.filter(({ name }) => /\/a\.uasset$/i.test(name));
    expect(rows.map(({ origin, hidden, note }) => [origin, hidden, note])).toEqual([
      ['Shooter-Win_1_P.pak', undefined, undefined],
      ['Shooter-Win_0_P.pak', 'shadowed', 'shadowed by Shooter-Win_1_P.pak'],
      ['Shooter-Win.pak', 'shadowed', 'shadowed by Shooter-Win_1_P.pak'],
    ]);
    expect(game.facts.searchPath).toEqual([
      'Shooter-Win_1_P.pak',
      'Shooter-Win_0_P.pak',
      'Shooter-Win.pak',
      'pakchunk9.pak',
    ]);
    for (const entry of game.entries) expect(await game.verify(entry)).toBeUndefined();
    expect(await game.verifyDirectory()).toBeUndefined();
    await game.close();
  });

  test.each([
    [
      'version 6',
      legacyPak([{ name: 'Content/gone.txt', content: Buffer.alloc(0), isDeleted: true }], {
        version: 6,
        mountPoint: '../../../Shooter/',
      }),
    ],
    [
      'version 11',
      unrealPak([{ name: 'Content/gone.txt', content: Buffer.alloc(0), isDeleted: true }], {
        version: 11,
        mountPoint: '../../../Shooter/',
      }),
    ],
  ])('obeys delete records of %s', async (_version, patch) => {
    plant({
      'Shooter-Win.pak': pak({ 'Content/gone.txt': 'old', 'Content/kept.txt': 'kept' }),
      'Shooter-Win_0_P.pak': patch,
      'other_1_P.pak': pak({ 'Content/kept.txt': 'newer' }),
    });
    const game = await openUnrealFolder(root);
    expect(game.find('Shooter/Content/gone.txt')).toBeUndefined();
    expect(await text(game, 'Shooter/Content/kept.txt')).toBe('newer');
    expect(
      game.entries.filter(({ name }) => name.endsWith('gone.txt')).map(({ hidden, note }) => [hidden, note]),
    ).toEqual([
      ['delete-record', expect.stringContaining('takes this name away')],
      ['deleted', 'deleted by Shooter-Win_0_P.pak'],
    ]);
    await game.close();
    // A later patch brings the file back.
    plant({ 'Shooter-Win_1_P.pak': pak({ 'Content/gone.txt': 'back' }) });
    const later = await openUnrealFolder(root);
    expect(await text(later, 'Shooter/Content/gone.txt')).toBe('back');
    await later.close();
  });

  test('leaves out what is locked or no Unreal PAK, with a note', async () => {
    const key = new Uint8Array(32).fill(3);
    plant({
      'a.pak': pak({ 'a.txt': 'open' }),
      'b_P.pak': unrealPak([{ name: 'a.txt', content: Buffer.from('locked') }], {
        version: 11,
        mountPoint: '../../../Shooter/',
        key,
        encryptIndex: true,
      }),
      'mods/q.pak': quakePak([{ name: 'x', content: 'y' }]),
      'global.utoc': new Uint8Array(10),
    });
    const game = await openUnrealFolder(root);
    expect(await text(game, 'Shooter/a.txt')).toBe('open');
    expect(game.notes.join('\n')).toMatch(/b_P\.pak is left out: .*encrypted/);
    expect(game.notes.join('\n')).toMatch(/mods\/q\.pak is left out/);
    expect(game.notes.join('\n')).toMatch(/1 IoStore/);
    await game.close();
    const unlocked = await openUnrealFolder(root, { keys: [key] });
    expect(await text(unlocked, 'Shooter/a.txt')).toBe('locked');
    await unlocked.close();
  });

  // A file of such a name cannot be elsewhere.
  (process.platform === 'win32' ? test.skip : test)('a PAK with a back-slash in its name is read', async () => {
    plant({ 'odd\\name.pak': pak({ 'a.txt': 'odd' }), 'mods/b.pak': pak({ 'b.txt': 'in a folder' }) });
    const game = await openUnrealFolder(root);
    expect(await text(game, 'Shooter/a.txt')).toBe('odd');
    expect(await text(game, 'Shooter/b.txt')).toBe('in a folder');
    await game.close();
  });

  test('a damaged PAK is named', async () => {
    const bytes = pak({ 'a.txt': 'x' });
    bytes[bytes.length - 230]! ^= 1;
    plant({ 'good.pak': pak({}), 'bad_P.pak': bytes });
    await expect(openUnrealFolder(root)).rejects.toMatchObject({
      code: 'E_INTEGRITY',
      message: expect.stringContaining('bad_P.pak'),
    });
  });

  test('a folder without a PAK is E_NOT_FOUND, one that is all locked E_KEY_MISSING', async () => {
    mkdirSync(root, { recursive: true });
    await expect(openUnrealFolder(root)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    expect(await isUnrealFolder(root)).toBe(false);
    plant({ 'x.pak': unrealPak([], { version: 11, key: new Uint8Array(32), encryptIndex: true }) });
    await expect(openUnrealFolder(root)).rejects.toMatchObject({ code: 'E_KEY_MISSING' });
    expect(await isUnrealFolder(root)).toBe(true);
  });
});

test('what a PAK knows of its entries is known in the folder', async () => {
  const noise = Buffer.from(Array.from({ length: 64 }, (_, i) => (i * i * 37 + 11) & 0xff));
  const key = new Uint8Array(32).fill(1);
  plant({
    'a.pak': unrealPak([{ name: 'sealed', content: noise }], { version: 11, key, encryptData: true }),
    'b.pak': legacyPak([{ name: 'bare', content: Buffer.from('no hash'), hasNoHash: true }], { version: 3 }),
    'c.pak': legacyPak([{ name: 'hashed', content: deflateSync('x'), method: 1, size: 9 }], { version: 4 }),
  });
  const game = await openUnrealFolder(root, { keys: [new Uint8Array(32)] });
  const [hashed, bare, sealed] = game.entries;
  expect([hashed, bare, sealed].map((entry) => entry?.mayBeUnsure)).toEqual([false, false, true]);
  expect(await game.status!(sealed!)).toBe('key unverified');
  expect(await Promise.all([hashed!, bare!, sealed!].map((entry) => game.hasProof(entry)))).toEqual([
    true,
    false,
    true,
  ]);
  expect(await game.verify(hashed!)).toBeUndefined();
  expect(await game.verify(hashed!, { decode: true })).toMatchObject({ code: expect.stringMatching(/^E_FORMAT/) });
  await game.close();
});

test('entries of a folder are read and checked without waiting, those of each PAK by its own means', async () => {
  const legacy = (name: string, text: string): Uint8Array =>
    legacyPak([{ name, content: Buffer.from(text) }], { version: 3, mountPoint: '../../../Shooter/' });
  const damaged = legacy('Content/bad.txt', 'it was whole');
  const at = Buffer.from(damaged).indexOf('it was whole');
  damaged[at] = damaged[at]! ^ 1;
  plant({
    'a.pak': pak({ 'Content/a.txt': 'of a', 'Content/b.txt': 'of a' }),
    'b_P.pak': legacy('Content/b.txt', 'of b'),
    'c_P.pak': damaged,
  });
  const game = await openUnrealFolder(root);
  const read = await game.readerAtOnce!();
  const isRight = await game.checkerAtOnce!();
  const answers = game.entries.map((entry) => {
    const pieces = read(entry);
    let text = '';
    for (let next = pieces.next(); ; next = pieces.next()) {
      if (next.done === true) return [entry.origin, entry.name, next.value ? text : undefined, isRight(entry)];
      text += Buffer.from(next.value).toString();
    }
  });
  expect(answers).toEqual([
    ['c_P.pak', 'Shooter/Content/bad.txt', undefined, false],
    ['b_P.pak', 'Shooter/Content/b.txt', 'of b', true],
    ['a.pak', 'Shooter/Content/a.txt', 'of a', true],
    ['a.pak', 'Shooter/Content/b.txt', 'of a', true],
  ]);
  await game.close();
});

test('a thread is given the indices of a folder: it finds the same files, also where another PAK has come since', async () => {
  const key = new Uint8Array(32).fill(7);
  plant({
    'a.pak': pak({ 'Content/a.txt': 'of a', 'Content/b.txt': 'of a' }),
    'b_P.pak': unrealPak([{ name: 'Content/b.txt', content: Buffer.from('of b') }], {
      version: 11,
      mountPoint: '../../../Shooter/',
      key,
      encryptIndex: true,
    }),
    'c_P.pak': unrealPak([], { version: 11, key: new Uint8Array(32), encryptIndex: true }),
  });
  const game = await openUnrealFolder(root, { keys: [key] });
  const shared = structuredClone(shareDirectory(game));
  plant({ 'd_9_P.pak': pak({ 'Content/a.txt': 'newer' }) });
  const other = await openShared(root, { keys: [key] }, shared!);
  const rowsOf = (one: Pak): unknown[] => [...eachEntry(one)].map(({ name, hidden, origin }) => [name, hidden, origin]);
  expect(rowsOf(other)).toEqual(rowsOf(game));
  const contents = async (one: Pak): Promise<string[]> =>
    Promise.all([...eachEntry(one)].map(async (entry) => Buffer.from(await gather(one.read(entry))).toString()));
  expect(await contents(other)).toEqual(['of b', 'of a', 'of a']);
  expect(await contents(game)).toEqual(['of b', 'of a', 'of a']);
  await game.close();
  await other.close();
});

describeConformance('a real base and its patch', () => {
  test('the target comes from the patch, the rest from the base', async () => {
    mkdirSync(root, { recursive: true });
    const [base, patch] = ['CUE4ParseFixtures-PatchBase.pak', 'CUE4ParseFixtures-PatchBase_0_P.pak'] as const;
    for (const name of [base, patch]) copyFileSync(conformancePath('pak/unreal/cue4parse', name), join(root, name));
    const game = await openUnrealFolder(root);
    const at = 'CUE4ParseFixtures/Content/PatchFixtures';
    const target = game.find(`${at}/DA_PatchTarget.uasset`)!;
    expect([target.origin, await contentHash(game, target)]).toEqual([
      patch,
      'e4f2a7b68bc495580053d4964db502af3cca6b6f7138394480b2dd6fc0f5a766',
    ]);
    expect(game.find(`${at}/DA_PatchReferencer.uasset`)!.origin).toBe(base);
    await game.close();
  });
});
