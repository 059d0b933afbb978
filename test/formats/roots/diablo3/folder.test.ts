import { describe, expect, test } from '@jest/globals';
import {
  decodeDiablo3Packages,
  decodeDiablo3Toc,
  encodeDiablo3Packages,
  encodeDiablo3Toc,
} from '../../../../src/formats/roots/diablo3/core-toc.ts';
import {
  decodeDiablo3Folder,
  decodeDiablo3Root,
  diablo3RootFormat,
  encodeDiablo3Folder,
  encodeDiablo3Root,
} from '../../../../src/formats/roots/diablo3/folder.ts';
import { diablo3Namer } from '../../../../src/formats/roots/diablo3/names.ts';
import { expectHostileSafe } from '../../../support/hostile.ts';
import { codeThrownBy } from '../../text.ts';

const key = (digit: string) => digit.repeat(32);
const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));

describe('the layout, byte for byte as it is described', () => {
  test('root', () => {
    const bytes = hex(`c4d00780 02000000 ${key('1')} 4261736500 ${key('a')} 656e555300`);
    expect(diablo3RootFormat.matches(bytes)).toBe(true);
    expect(decodeDiablo3Root(bytes)).toEqual([
      { name: 'Base', ckey: key('1') },
      { name: 'enUS', ckey: key('a') },
    ]);
    expect(encodeDiablo3Root(decodeDiablo3Root(bytes))).toEqual(bytes);
    expect(codeThrownBy(() => decodeDiablo3Root(Uint8Array.of(...bytes, 0)))).toBe('E_FORMAT');
  });

  test('folder', () => {
    const bytes = hex(
      `87fef1ea 01000000 ${key('1')} 05010000 01000000 ${key('2')} 06000000 07000000 01000000 ${key('3')} 785c7900`,
    );
    const folder = decodeDiablo3Folder(bytes);
    const assets = [...folder.assets];
    expect(assets).toEqual([
      { snoId: 0x105, ckey: key('1') },
      { snoId: 6, part: 7, ckey: key('2') },
    ]);
    expect([folder.assetCount, folder.named]).toEqual([2, [{ name: 'x\\y', ckey: key('3') }]]);
    expect(encodeDiablo3Folder({ assets, named: folder.named })).toEqual(bytes);
    expect(codeThrownBy(() => decodeDiablo3Folder(hex(`c4d00780 ${'0'.repeat(24)}`)))).toBe('E_FORMAT_MAGIC');
  });

  test('CoreTOC: entries with a group of their own, names behind each group', () => {
    const bytes = new Uint8Array(844 + 3 * 12 + 6);
    const view = new DataView(bytes.buffer);
    const put = (at: number, ...values: number[]) => {
      for (const [i, value] of values.entries()) view.setUint32(at + 4 * i, value, true);
    };
    put(4, 1);
    put(44 * 4, 2);
    put((70 + 1) * 4, 0);
    put((70 + 44) * 4, 14);
    put(844, 1, 77, 0);
    bytes.set(Buffer.from('A\0'), 856);
    put(858, 44, 78, 0, 46, 77, 2);
    bytes.set(Buffer.from('b\0c\0'), 882);
    const { groups } = decodeDiablo3Toc(bytes);
    expect([groups.length, groups[1], groups[44]]).toEqual([
      70,
      [{ group: 1, snoId: 77, name: 'A' }],
      [
        { group: 44, snoId: 78, name: 'b' },
        { group: 46, snoId: 77, name: 'c' },
      ],
    ]);
    expect(encodeDiablo3Toc(decodeDiablo3Toc(bytes))).toEqual(bytes);
  });

  test('Packages.dat', () => {
    const bytes = hex('0200bbaa 02000000 612e6200 635c642e756900');
    expect(decodeDiablo3Packages(bytes)).toEqual(['a.b', 'c\\d.ui']);
    expect(encodeDiablo3Packages(decodeDiablo3Packages(bytes))).toEqual(bytes);
  });
});

describe('names', () => {
  const entries = [
    { group: 44, snoId: 1, name: 'Rock' },
    { group: 41, snoId: 2, name: '3D Ambience' },
    { group: 46, snoId: 3, name: 'Menu' },
    { group: 16, snoId: 4, name: 'Odd' },
    { group: 35, snoId: 5, name: 'Run' },
    { group: 41, snoId: 6, name: 'Plain' },
    { group: 46, snoId: 7, name: 'Menu.v2' },
    { group: 46, snoId: 1, name: 'not the first of this id' },
  ];
  const nameOf = diablo3Namer(entries, [
    'SoundBank\\3D Ambience\\0000.smp',
    'soundbank\\3d ambience\\0001.fsb',
    'UI\\Menu.ui',
    'UI\\Menu.v2.xml',
    'none',
  ]);

  test.each([
    [{ snoId: 1 }, 'Textures/Rock.tex'],
    [{ snoId: 2 }, 'SoundBank/3D Ambience.sbk'],
    [{ snoId: 2, part: 0 }, 'SoundBank/3D Ambience/0000.smp'],
    [{ snoId: 2, part: 1 }, 'SoundBank/3D Ambience/0001.fsb'],
    [{ snoId: 2, part: 12345 }, 'SoundBank/3D Ambience/12345.smp'],
    [{ snoId: 6, part: 3 }, 'SoundBank/Plain/0003.sbk'],
    [{ snoId: 3 }, 'UI/Menu.ui'],
    [{ snoId: 7 }, 'UI/Menu.v2.xml'],
    [{ snoId: 4 }, 'Asset16/Odd.a16'],
    [{ snoId: 5 }, 'Script/Run.a35'],
    [{ snoId: 9 }, 'SNO/9'],
    [{ snoId: 9, part: 2 }, 'SNO/9/0002'],
  ])('%j is %s', (asset, name) => {
    expect(nameOf({ ...asset, ckey: key('0') })).toBe(name);
  });

  test('CoreTOC has room for 70 groups', () => {
    expect(codeThrownBy(() => encodeDiablo3Toc({ groups: new Array(71).fill([]) }))).toBe('E_FORMAT_RANGE');
  });
});

test('hostile bytes', () => {
  const named = [
    { name: 'a', ckey: key('1') },
    { name: 'b\\c', ckey: key('2') },
  ];
  const assets = [
    { snoId: 1, ckey: key('3') },
    { snoId: 1, part: 2, ckey: key('4') },
  ];
  expectHostileSafe(decodeDiablo3Root, encodeDiablo3Root(named));
  expectHostileSafe((bytes) => [...decodeDiablo3Folder(bytes).assets], encodeDiablo3Folder({ assets, named }));
  expectHostileSafe(decodeDiablo3Packages, encodeDiablo3Packages(['a.b', 'c']));
  // Groups that are cut off are told; unused space behind the last name is not there.
  expectHostileSafe(decodeDiablo3Toc, encodeDiablo3Toc({ groups: [[{ group: 44, snoId: 1, name: 'Rock' }]] }));
});
