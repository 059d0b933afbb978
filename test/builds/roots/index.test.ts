import { describe, expect, test } from '@jest/globals';
import { getVariant } from '../../../src/builds/files.ts';
import { openRoot } from '../../../src/builds/roots/index.ts';
import type { Root } from '../../../src/builds/roots/root.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { nameHash } from '../../../src/core/jenkins.ts';
import type { Install } from '../../../src/formats/manifests/install.ts';
import { encodeDiablo3Packages, encodeDiablo3Toc } from '../../../src/formats/roots/diablo3/core-toc.ts';
import { encodeDiablo3Folder, encodeDiablo3Root } from '../../../src/formats/roots/diablo3/folder.ts';
import { encodeMndx } from '../../../src/formats/roots/mndx/encode.ts';
import { encodeTextRoot } from '../../../src/formats/roots/text.ts';
import { encodeTvfs } from '../../../src/formats/roots/tvfs/encode.ts';
import { encodeWowRoot } from '../../../src/formats/roots/wow/encode.ts';
import { codeThrownBy } from '../../formats/text.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { openSmallRoot, smallPlace } from './small-build.ts';

const scratch = scratchFolder();
const bytes = (text: string) => new TextEncoder().encode(text);
const key = (digit: string) => digit.repeat(32);

/** Tags by name with the entries that carry them. */
function installOf(entries: [path: string, ckey: string][], tags: Record<string, number[]>): Install {
  const masks = Object.entries(tags).map(([name, members], i) => {
    const mask = new Uint8Array(Math.ceil(entries.length / 8));
    for (const entry of members) mask[entry >> 3]! |= 0x80 >> (entry & 7);
    return { name, type: i < 2 ? 1 : 3, mask };
  });
  return { version: 1, tags: masks, entries: entries.map(([path, ckey]) => ({ path, ckey, size: 5 })) };
}

const installed = installOf(
  [
    ['Game.exe', key('1')],
    ['Game.exe', key('2')],
    ['data\\strings.txt', key('3')],
    ['data\\strings.txt', key('4')],
    ['shared.dat', key('5')],
    ['shared.dat', key('5')],
    ['german.txt', key('6')],
  ],
  { Windows: [0, 2, 3, 4], OSX: [1, 2, 3, 5], enUS: [2], deDE: [3, 6] },
);
const names = (root: { list(matches: () => boolean): Iterable<{ name?: string | undefined }> }) =>
  Array.from(
    root.list(() => true),
    ({ name }) => name,
  );

describe('which root a build gets', () => {
  const tvfs = encodeTvfs({
    entries: [
      {
        path: 'from/vfs',
        spans: [
          {
            offset: 0,
            size: 3,
            ekey: new Uint8Array(9),
            encodedSize: 9,
            contentSize: 3,
            ckey: new Uint8Array(16),
            espec: 'n',
          },
        ],
      },
    ],
  });
  const wow = (form: 'tsfm2' | 'headerless') =>
    encodeWowRoot({
      form,
      blocks: [
        {
          contentFlags: 0,
          localeFlags: 2,
          rows: [{ fileDataId: 7, ckey: new Uint8Array(16).fill(0xaa), nameHash: nameHash('a') }],
        },
      ],
    });

  test('vfs-root goes before a text root', async () => {
    const root = await openSmallRoot(scratch, {
      root: encodeTextRoot({ rows: [{ path: 'a', ckey: key('1') }] }),
      vfsRoot: tvfs,
    });
    expect([root.kind, ...names(root)]).toEqual(['tvfs', 'from/vfs']);
    root.close();
  });

  test('a TVFS manifest may itself be the root', async () => {
    const root = await openSmallRoot(scratch, { root: tvfs });
    expect([root.kind, ...names(root)]).toEqual(['tvfs', 'from/vfs']);
    root.close();
  });

  test.each(['tsfm2', 'headerless'] as const)('a WoW root (%s) goes before vfs-root', async (format) => {
    const root = await openSmallRoot(scratch, { root: wow(format), vfsRoot: tvfs });
    expect(root.kind).toBe('wow');
    expect(root.findId(7).map(({ parts }) => parts[0]!.ckey)).toEqual([key('a')]);
    root.close();
  });
});

describe('roots with magics and tables', () => {
  const keysByName = (root: Root) =>
    Array.from(
      root.list(() => true),
      ({ name, parts }) => `${name} ${parts[0]!.ckey}`,
    );

  test('Heroes of the Storm: a name in any case', async () => {
    const files = [
      {
        package: 'mods/Core.StormMod/Base.StormAssets',
        name: 'mods/Core.StormMod/Base.StormAssets/Assets/Rock.dds',
        ckey: key('1'),
        size: 9,
      },
      {
        package: 'mods/Core.StormMod/enUS.StormData',
        name: 'mods/Core.StormMod/enUS.StormData/Assets/Rock.dds',
        ckey: key('2'),
        size: 8,
      },
    ];
    const root = await openSmallRoot(scratch, { root: encodeMndx({ files }) });
    expect(root.kind).toBe('mndx');
    expect(root.find('MODS\\core.stormmod\\enus.stormdata\\assets\\rock.dds').map(({ parts }) => parts)).toEqual([
      [{ ckey: key('2'), size: 8 }],
    ]);
    expect(keysByName(root).sort()).toEqual(files.map((file) => `${file.name} ${file.ckey}`));
    root.close();
  });

  test('Diablo III: names by CoreTOC and Packages.dat; a folder that no host has is left out', async () => {
    const toc = encodeDiablo3Toc({ groups: [[{ group: 41, snoId: 5, name: 'Wind' }]] });
    const packages = encodeDiablo3Packages(['SoundBank\\Wind\\0000.smp']);
    const base = encodeDiablo3Folder({
      assets: [
        { snoId: 5, ckey: key('1') },
        { snoId: 5, part: 0, ckey: key('2') },
        { snoId: 6, ckey: key('3') },
      ],
      named: [
        { name: 'CoreTOC.dat', ckey: md5Hex(toc) },
        { name: 'Data_D3\\PC\\MISC\\Packages.dat', ckey: md5Hex(packages) },
      ],
    });
    const german = encodeDiablo3Folder({ assets: [{ snoId: 5, ckey: key('4') }], named: [] });
    const folders = [
      { name: 'deDE', ckey: md5Hex(german) },
      { name: 'Base', ckey: md5Hex(base) },
      { name: 'koKR', ckey: key('9') },
    ];
    const root = await openSmallRoot(scratch, {
      root: encodeDiablo3Root(folders),
      objects: [toc, packages, base, german],
    });
    expect([root.kind, ...keysByName(root)]).toEqual([
      'diablo3',
      `Base/CoreTOC.dat ${md5Hex(toc)}`,
      `Base/Data_D3/PC/MISC/Packages.dat ${md5Hex(packages)}`,
      `Base/SNO/6 ${key('3')}`,
      `Base/SoundBank/Wind.sbk ${key('1')}`,
      `Base/SoundBank/Wind/0000.smp ${key('2')}`,
      `deDE/SoundBank/Wind.sbk ${key('4')}`,
    ]);
    root.close();
  });

  test('Overwatch: the manifests', async () => {
    const table = bytes(`#MD5|CHUNK_ID|FILENAME|INSTALLPATH\n${key('1')}|0|TactManifest/Win_LenUS.apm|\n`);
    const root = await openSmallRoot(scratch, { root: table });
    expect([root.kind, ...keysByName(root)]).toEqual(['overwatch', `TactManifest/Win_LenUS.apm ${key('1')}`]);
    root.close();
  });

  test('a root of a known kind that is damaged is an error, not a build without names', async () => {
    for (const damaged of [encodeMndx({ files: [] }).slice(0, -5), bytes(`a|${key('1')}\nb|c\n`)]) {
      const place = smallPlace(scratch, { root: damaged, install: installed });
      await expect(openRoot(place)).rejects.toMatchObject({ code: expect.stringMatching(/^E_FORMAT/) });
    }
  });
});

describe('a build without a root', () => {
  test.each([
    ['none at all', undefined],
    ['a stub', bytes('0123456789abcdef0123456789abcdef')],
    ['a program', bytes(`MZ${'\0'.repeat(100)}`)],
  ])('%s: the install manifest stands in, and says so', async (_, object) => {
    const root = await openSmallRoot(scratch, { ...(object && { root: object }), install: installed });
    expect(root.kind).toBe('install');
    expect(root.notes?.join()).toMatch(/no root.*install manifest/);
    expect(names(root)).toEqual([
      'OSX/Game.exe',
      'Windows/Game.exe',
      'data/strings.txt',
      'data/strings.txt',
      'german.txt',
      'shared.dat',
    ]);
  });

  test('locales are variants; what differs for platforms is never picked in silence', async () => {
    const root = await openSmallRoot(scratch, { install: installed });
    const get = (name: string, locale: string) => getVariant(root.find(name), locale, name).parts[0]!.ckey;
    expect([get('DATA\\strings.txt', 'enUS'), get('data/strings.txt', 'deDE')]).toEqual([key('3'), key('4')]);
    expect([get('windows/game.exe', 'enUS'), get('OSX/Game.exe', 'enUS')]).toEqual([key('1'), key('2')]);
    expect(get('german.txt', 'enUS')).toBe(key('6'));
    expect(codeThrownBy(() => get('Game.exe', 'enUS'))).toBe('E_USAGE');
    expect(root.find('nothing')).toEqual([]);
  });
});

describe('a root that nobody knows', () => {
  const contents = ['one', 'two', 'three'].map(bytes);
  const keys = contents.map((content) => `ckey:${md5Hex(content)}`).sort();

  test('leaves install names and content keys, and says what it starts with', async () => {
    const install = installOf([['a.txt', md5Hex(contents[1]!)]], {});
    const root = await openSmallRoot(scratch, {
      root: bytes('What is this? Nobody knows what it is.'),
      install,
      contents,
    });
    expect(root.kind).toBeNull();
    expect(root.notes?.join()).toMatch(/E_UNSUPPORTED.*5768617420697320/);
    expect(names(root)).toEqual(['a.txt', ...keys.filter((key) => key !== `ckey:${md5Hex(contents[1]!)}`)]);
    expect(root.find('A.TXT').length).toBe(1);
  });

  test('and content keys alone where there is no install manifest', async () => {
    const root = await openSmallRoot(scratch, { contents });
    expect([root.kind, names(root)]).toEqual([null, keys]);
    expect(root.notes?.join()).toMatch(/there are no names/);
  });
});

test('a build without containers says that nobody has its names', async () => {
  const root = await openSmallRoot(scratch, {
    install: installed,
    config: [`build-file-db = ${key('1')} ${key('2')}`],
  });
  expect(root.notes?.[1]).toMatch(/^E_NOT_FOUND.*build-file-db/);
});
