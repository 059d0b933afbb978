import { describe, expect, test } from '@jest/globals';
import { concatBytes, fromHex } from '../../src/core/bytes.ts';
import { md5Hex } from '../../src/core/hash.ts';
import { encodeBlte } from '../../src/formats/blte/encode.ts';
import { encodeLocalIndex } from '../../src/formats/local/local-index.ts';
import { encodeSize } from '../../src/formats/manifests/size.ts';
import { encodeContentManifest } from '../../src/formats/roots/content-manifest.ts';
import { encodeDiablo3Packages, encodeDiablo3Toc } from '../../src/formats/roots/diablo3/core-toc.ts';
import { encodeDiablo3Folder, encodeDiablo3Root } from '../../src/formats/roots/diablo3/folder.ts';
import { encodeDiablo4Toc } from '../../src/formats/roots/diablo4/core-toc.ts';
import {
  encodeEncryptedNames,
  encodeEncryptedSnos,
  encodeSharedPayloads,
} from '../../src/formats/roots/diablo4/side-tables.ts';
import { encodeMar, encodeMndx } from '../../src/formats/roots/mndx/encode.ts';
import { encodePackageManifest } from '../../src/formats/roots/package-manifest.ts';
import { encodeTextRoot } from '../../src/formats/roots/text.ts';
import { encodeWowRoot } from '../../src/formats/roots/wow/encode.ts';
import { type Inspection, inspectBytes, problemOf } from '../../src/inspect/inspect.ts';
import { expectHostileSafe } from '../support/hostile.ts';

const text = (...lines: string[]): Uint8Array => new TextEncoder().encode(`${lines.join('\n')}\n`);
const key = (digit: string): string => digit.repeat(32);
const toc = (newer: boolean): Uint8Array =>
  encodeDiablo4Toc({ newer, unknown: 0, groups: [{ entries: [{ group: 29, snoId: 7, name: 'Fireball' }] }] });
const asset = { guid: '0d80000000000012', size: 5, ckey: key('a') };
const cmf = encodeContentManifest({ form: '1.48', build: 70000, version: 1, assets: [asset] });
const locked = cmf.slice();
locked.set([1, 0x66, 0x6d, 0x63], 44);

/** An object of each format, what it is to be called, and a row or fact of it. */
const objects: [format: string, bytes: Uint8Array, shown: object][] = [
  [
    'MNDX root',
    encodeMndx({ files: [{ package: 'a', name: 'a/b', ckey: key('1'), size: 2 }] }),
    { table: { rows: [{ name: 'a/b', size: 2, ckey: key('1') }] } },
  ],
  ['name trie', encodeMar({ keys: [{ name: Uint8Array.of(0x62) }] }), { table: { rows: [{ id: 0, name: 'b' }] } }],
  ['Diablo III root', encodeDiablo3Root([{ name: 'Base', ckey: key('2') }]), { facts: { folders: 1 } }],
  [
    'Diablo III folder',
    encodeDiablo3Folder({ assets: [{ snoId: 5, ckey: key('3') }], named: [] }),
    { table: { rows: [{ snoId: 5, ckey: key('3') }] } },
  ],
  ['Diablo III Packages.dat', encodeDiablo3Packages(['a.b']), { table: { rows: [{ name: 'a.b' }] } }],
  [
    'Diablo III CoreTOC',
    encodeDiablo3Toc({ groups: [[{ group: 44, snoId: 7, name: 'Rock' }]] }),
    { table: { rows: [{ snoId: 7, group: 'Textures', name: 'Rock' }] } },
  ],
  ['Diablo IV CoreTOC', toc(true), { table: { rows: [{ snoId: 7, group: 'Power', name: 'Fireball' }] } }],
  ['Diablo IV CoreTOC', toc(false), { facts: { form: 'older', names: 1 } }],
  [
    'Diablo IV EncryptedSNOs',
    encodeEncryptedSnos([{ group: 44, snoId: 1, keyName: 5n }]),
    { table: { rows: [{ snoId: 1, group: 'Texture', keyName: '0000000000000005' }] } },
  ],
  [
    'Diablo IV EncryptedNameDict',
    encodeEncryptedNames([{ group: 44, snoId: 1, name: 'Secret' }]),
    { table: { rows: [{ name: 'Secret' }] } },
  ],
  [
    'Diablo IV shared payloads',
    encodeSharedPayloads({ payloads: [{ snoId: 1, payloadOf: 2 }] }),
    { table: { rows: [{ snoId: 1, payloadOf: 2 }] } },
  ],
  ['content manifest', cmf, { table: { rows: [{ guid: asset.guid, size: 5, ckey: key('a') }] } }],
  ['content manifest', locked, { facts: { encrypted: true, assets: 1 } }],
  [
    'package manifest',
    encodePackageManifest({
      headerSize: 24,
      packageSize: 72,
      build: 24919,
      packages: [{ guid: asset.guid, content: { size: 5, ckey: key('a') } }],
    }),
    { table: { rows: [{ guid: asset.guid, size: 5 }] } },
  ],
  ['text root', encodeTextRoot({ rows: [{ path: 'SD/x', ckey: key('4') }] }), { table: { rows: [{ path: 'SD/x' }] } }],
  [
    'Overwatch root',
    text('#MD5|FILENAME', `${key('5')}|RetailClient/Overwatch.exe`),
    { table: { rows: [{ MD5: key('5'), FILENAME: 'RetailClient/Overwatch.exe' }] } },
  ],
  [
    'WoW root',
    encodeWowRoot({
      form: 'headerless',
      blocks: [{ contentFlags: 0, localeFlags: 2, rows: [{ fileDataId: 7, ckey: fromHex(key('6')) }] }],
    }),
    { table: { rows: [{ fileDataId: 7, ckey: key('6'), locales: 'enUS' }] } },
  ],
  [
    'size manifest',
    encodeSize({ version: 1, longHeader: true, entries: [{ ekey: fromHex(key('7')), size: 9 }], count: 1, tags: [] }),
    { facts: { version: 1, entries: 1, bytes: 9 } },
  ],
  [
    'local index',
    encodeLocalIndex({
      bucket: 0,
      sorted: [{ key: fromHex('11'.repeat(9)).slice(0, 9), archive: 3, offset: 70, size: 30 }],
    }),
    { facts: { entries: 1 }, table: { rows: [{ archive: 3, offset: 70, size: 30 }] } },
  ],
  [
    'encoding specs',
    text('b:{16K=z,*=n}', 'e:{237DA26C65073F42,06FC152E,z}'),
    { table: { rows: [{ blocks: 2 }, { encryptedWith: '237DA26C65073F42' }] } },
  ],
  ['PAK archive', concatBytes([text('PACK').subarray(0, 4), new Uint8Array(8)]), { facts: { family: 'quake' } }],
  ['PAK archive', concatBytes([text('NadeoPak').subarray(0, 8), new Uint8Array(80)]), { facts: { family: 'nadeo' } }],
];

test.each(objects.map(([format, bytes, shown], i) => [`${format} (${i})`, format, bytes, shown] as const))(
  '%s is told, and shown',
  (_, format, bytes, shown) => {
    expect(inspectBytes(bytes)).toMatchObject({ format, ...shown });
    expectHostileSafe((input) => inspectBytes(input), bytes, { samples: 30, prefixesFail: false });
  },
);

describe('an archive', () => {
  const entries = ['one', 'two', 'three'].map((word) => encodeBlte(text(word.repeat(50)), 'b:{20=n,*=z}'));
  const bytes = concatBytes(entries.map((entry) => entry.bytes));

  test('is told from a single object, and its entries found', () => {
    const inspection = inspectBytes(bytes);
    expect(inspection).toMatchObject({ format: 'archive', facts: { entries: 3, bytesWithoutTable: 0 } });
    expect(inspection.table?.rows.map(({ ekey }) => ekey)).toEqual(
      entries.map((entry) => (inspectBytes(entry.bytes) as Inspection).facts.ekey),
    );
    expect(inspectBytes(entries[0]!.bytes).format).toBe('BLTE');
  });

  test('is called by its index, so its name says nothing', () => {
    expect(problemOf(inspectBytes(bytes, { name: key('0') }))).toBeUndefined();
  });
});

describe('the name of an object', () => {
  const { bytes } = encodeBlte(text('x'.repeat(100)), 'b:{*=z}');

  test('that is no hash of it is a problem, and its text says so', async () => {
    const { renderInspection } = await import('../../src/cli/render/inspection.ts');
    const inspection = inspectBytes(bytes, { name: key('1') });
    expect(problemOf(inspection)).toMatchObject({ code: 'E_INTEGRITY' });
    expect(renderInspection(inspection, 200)).toMatch(/Wrong: it is called 1{32}/);
    expect(renderInspection(inspectBytes(bytes, { name: md5Hex(bytes) }), 200)).toMatch(/its name is the MD5/);
  });

  test('may be that of what is inside, which is not looked at with --encoded', () => {
    expect(problemOf(inspectBytes(bytes, { name: key('1'), encoded: true }))).toBeUndefined();
  });
});
