import { describe, expect, test } from '@jest/globals';
import { openRoot } from '../../src/builds/roots/index.ts';
import type { Root } from '../../src/builds/roots/root.ts';
import { fromHex } from '../../src/core/bytes.ts';
import { PakratError } from '../../src/core/errors.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { encodeContentManifest } from '../../src/formats/roots/content-manifest.ts';
import { encodeDiablo4Toc } from '../../src/formats/roots/diablo4/core-toc.ts';
import {
  encodeEncryptedNames,
  encodeEncryptedSnos,
  encodeSharedPayloads,
} from '../../src/formats/roots/diablo4/side-tables.ts';
import { encodePackageManifest } from '../../src/formats/roots/package-manifest.ts';
import { encodeTvfs } from '../../src/formats/roots/tvfs/encode.ts';
import { openSmallRoot, smallPlace } from '../builds/roots/small-build.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const key = (digit: string) => digit.repeat(32);
const listed = (root: Root) =>
  Array.from(
    root.list(() => true),
    ({ name, parts }) => `${name} ${parts[0]!.ckey}`,
  );

describe('Diablo IV', () => {
  const toc = encodeDiablo4Toc({
    newer: true,
    unknown: 0,
    groups: [
      {
        entries: [
          { group: 29, snoId: 10, name: 'Fireball' },
          { group: 44, snoId: 20, name: 'Rock' },
          { group: 44, snoId: 21, name: 'Stone' },
          { group: 44, snoId: 30, name: '' },
          { group: 44, snoId: 31, name: '' },
        ],
      },
    ],
  });
  const encrypted = encodeEncryptedSnos([30, 31].map((snoId) => ({ group: 44, snoId, keyName: 5n })));
  const names = encodeEncryptedNames([{ group: 44, snoId: 30, name: 'Secret' }]);
  const locked = encodeEncryptedNames([{ group: 44, snoId: 31, name: 'Never seen' }]);
  const shared = encodeSharedPayloads({ payloads: [{ snoId: 21, payloadOf: 20 }] });
  const paths: [string, string][] = [
    ['Base/CoreTOC.dat', md5Hex(toc)],
    ['Base/EncryptedSNOs.dat', md5Hex(encrypted)],
    ['Base/EncryptedNameDict-0x0000000000000005.dat', md5Hex(names)],
    ['Base/EncryptedNameDict-0x0000000000000006.dat', md5Hex(locked)],
    ['Base/CoreTOCSharedPayloadsMapping.dat', md5Hex(shared)],
    ['Base/meta/10', key('1')],
    ['Base/payload/20', key('2')],
    ['Base/meta/21', key('3')],
    ['Base/meta/30', key('4')],
    ['Base/meta/31', key('5')],
    ['Base/meta/99', key('6')],
    ['enUS_Text/child/10-2', key('7')],
  ];
  const vfsRoot = encodeTvfs({
    entries: paths.map(([path, ckey]) => ({
      path,
      spans: [
        {
          offset: 0,
          size: 4,
          ekey: fromHex(ckey).subarray(0, 9),
          encodedSize: 5,
          contentSize: 4,
          espec: 'n',
          ckey: fromHex(ckey),
        },
      ],
    })),
  });
  const objects = [toc, encrypted, names, shared];

  test('assets have their names, and are found by their numbers too', async () => {
    const root = await openSmallRoot(scratch, { vfsRoot, objects, config: ['build-uid = fenris'] });
    expect(root.kind).toBe('tvfs');
    expect(
      listed(root)
        .filter((line) => !line.includes('.dat '))
        .sort(),
    ).toEqual(
      [
        `Base/meta/Power/Fireball.pow ${key('1')}`,
        `Base/payload/Texture/Rock.tex ${key('2')}`,
        // What shares a payload is a file of its own.
        `Base/payload/Texture/Stone.tex ${key('2')}`,
        `Base/meta/Texture/Stone.tex ${key('3')}`,
        `Base/meta/Texture/Secret.tex ${key('4')}`,
        `Base/meta/Texture/_encrypted_31.tex ${key('5')}`,
        `Base/meta/99 ${key('6')}`,
        `enUS_Text/child/Power/Fireball-2.pow ${key('7')}`,
      ].sort(),
    );
    const find = (name: string) => root.find(name).map(({ name, parts }) => `${name} ${parts[0]!.ckey}`);
    expect(find('base/META/power/fireball.POW')).toEqual([`Base/meta/Power/Fireball.pow ${key('1')}`]);
    expect(find('Base/meta/10')).toEqual([`Base/meta/Power/Fireball.pow ${key('1')}`]);
    expect(find('Base/payload/21')).toEqual([`Base/payload/Texture/Stone.tex ${key('2')}`]);
    expect(root.notes?.join()).toMatch(/EncryptedNameDict-0x0{15}6/);
    root.close();
  });

  test('the notes are there the second time as well', async () => {
    for (let time = 0; time < 2; time++) {
      const root = await openSmallRoot(scratch, { vfsRoot, objects, config: ['build-uid = fenris'] });
      expect(root.notes?.length).toBe(1);
      root.close();
    }
  });

  test('a table of names that is damaged is an error', async () => {
    const bad = toc.slice(0, -3);
    const files = [{ path: 'Base/CoreTOC.dat', spans: [spanOf(md5Hex(bad))] }];
    const place = smallPlace(scratch, {
      vfsRoot: encodeTvfs({ entries: files }),
      objects: [bad],
      config: ['build-uid = fenrisb'],
    });
    await expect(openRoot(place)).rejects.toMatchObject({ code: 'E_FORMAT_TRUNCATED' });
  });

  test('without tables, and in other games, paths are as the TVFS has them', async () => {
    const bare = encodeTvfs({ entries: [{ path: 'Base/meta/10', spans: [spanOf(key('1'))] }] });
    for (const uid of ['fenris', 'osi']) {
      const root = await openSmallRoot(scratch, { vfsRoot: bare, config: [`build-uid = ${uid}`] });
      expect(listed(root)).toEqual([`Base/meta/10 ${key('1')}`]);
      root.close();
    }
  });
});

function spanOf(ckey: string) {
  const span = { offset: 0, size: 4, ekey: fromHex(ckey).subarray(0, 9), encodedSize: 5, contentSize: 4, espec: 'n' };
  return { ...span, ckey: fromHex(ckey) };
}

describe('Overwatch', () => {
  const assets = [{ guid: '0d80000000000012', size: 5, ckey: key('a') }];
  const cmf = encodeContentManifest({ form: '1.22', build: 50000, version: 1, assets });
  const textCmf = encodeContentManifest({
    form: '1.22',
    build: 50000,
    version: 1,
    assets: [{ guid: '0000000000000001', size: 6, ckey: key('b') }],
  });
  const apm = encodePackageManifest({
    headerSize: 24,
    packageSize: 72,
    build: 24919,
    packages: [{ guid: 'e000000000000007', content: { size: 7, ckey: key('c') } }],
  });
  const damaged = cmf.slice(0, -1);
  const table = (...files: [name: string, bytes: Uint8Array | string][]) =>
    new TextEncoder().encode(
      `#MD5|FILENAME\n${files.map(([name, bytes]) => `${typeof bytes === 'string' ? bytes : md5Hex(bytes)}|${name}\n`).join('')}`,
    );

  test('the assets of open manifests are files under their ids', async () => {
    const root = await openSmallRoot(scratch, {
      root: table(
        ['TactManifest/Win_SPWin_RDEV_EExt.cmf', cmf],
        ['TactManifest/Win_SPWin_RDEV_LdeDE_text_EExt.cmf', textCmf],
        ['TactManifest/Win_SPWin_RCN_EExt.cmf', damaged],
        ['TactManifest/Win_SPWin_RDEV_EExt.apm', apm],
        ['RetailClient/other.cmf', key('d')],
        ['Manifest/gone.cmf', key('e')],
      ),
      objects: [cmf, textCmf, apm, damaged],
    });
    expect(listed(root).slice(0, 3)).toEqual([
      `AppPackageManifests/Windows-RDEV/e000000000000007 ${key('c')}`,
      `ContentManifestFiles/Windows-RDEV/0d80000000000012 ${key('a')}`,
      `ContentManifestFiles/Windows-RDEV/deDE/text/0000000000000001 ${key('b')}`,
    ]);
    expect(root.find('contentmanifestfiles\\windows-rdev\\0D80000000000012')[0]?.parts).toEqual([
      { ckey: key('a'), size: 5 },
    ]);
    expect(root.notes).toEqual([
      expect.stringMatching(/^TactManifest\/Win_SPWin_RCN_EExt\.cmf cannot be read/),
      expect.stringMatching(/^Manifest\/gone\.cmf cannot be read/),
    ]);
    root.close();
  });

  test('what cannot be had now is not missing for ever', async () => {
    const root = table(['TactManifest/Win_SPWin_RDEV_EExt.cmf', cmf], ['z', key('1')]);
    const place = smallPlace(scratch, { root, objects: [cmf] });
    const offline = async (): Promise<never> => {
      throw new PakratError('E_OFFLINE', 'not held');
    };
    const first = await openRoot({ ...place, loadPart: offline });
    expect([listed(first).length, first.notes?.length]).toEqual([2, 1]);
    first.close();
    const second = await openRoot(place);
    expect([listed(second).length, second.notes]).toEqual([3, []]);
    second.close();
  });

  test('encrypted ones are said to be, and the others of their build are not even fetched', async () => {
    const locked = cmf.slice();
    locked.set([1, 0x66, 0x6d, 0x63], 36);
    const root = table(['TactManifest/a.cmf', locked], ['TactManifest/b.cmf', cmf], ['TactManifest/c.apm', apm]);
    const asked: string[] = [];
    const place = smallPlace(scratch, { root });
    const opened = await openRoot({
      ...place,
      loadPart: async ({ ckey }) => {
        asked.push(ckey!);
        if (ckey === md5Hex(locked)) return locked;
        throw new PakratError('E_NOT_FOUND', 'not asked for');
      },
    });
    expect(asked).toEqual([md5Hex(locked)]);
    expect(listed(opened).length).toBe(3);
    expect(opened.notes).toEqual([expect.stringMatching(/^E_UNSUPPORTED: .*encrypted/)]);
    opened.close();
  });
});
