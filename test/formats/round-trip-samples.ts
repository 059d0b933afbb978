import { md5, md5Hex } from '../../src/core/hash.ts';
import {
  decodeArchiveIndex,
  encodeArchiveGroup,
  encodeArchiveIndex,
  encodeArmadilloKey,
  encodeBlteHeader,
  encodeBuildInfo,
  encodeCipherHead,
  encodeContentManifest,
  encodeDiablo3Folder,
  encodeDiablo3Packages,
  encodeDiablo3Root,
  encodeDiablo3Toc,
  encodeDiablo4Toc,
  encodeDownload,
  encodeEncoding,
  encodeEncryptedNames,
  encodeEncryptedSnos,
  encodeInstall,
  encodeLocalHeader,
  encodeLocalIndex,
  encodeLocalRow,
  encodeLocalUpdates,
  encodeMar,
  encodeMndx,
  encodePackageManifest,
  encodePatchIndex,
  encodePatchManifest,
  encodeRibbit,
  encodeSharedPayloads,
  encodeShmem,
  encodeSize,
  encodeTvfs,
  encodeWowRoot,
  fromHex,
  type IndexEntry,
  nameHash,
} from '../../src/formats/index.ts';
import { type FormatName, localPlace } from './round-trips.ts';
import { text } from './text.ts';

const key = (digit: string): string => digit.repeat(32);
const bytesOf = (digit: string, size = 16): Uint8Array => fromHex(digit.repeat(2 * size));

/** Entries with all that an index of this width has room for. */
function someEntries(count: number, offsetBytes = 4): IndexEntry[] {
  return Array.from({ length: count }, (_, i) => ({
    ekey: md5(Uint8Array.of(i, i >> 8)),
    size: i,
    offset: offsetBytes > 0 ? i : 0,
    archive: offsetBytes === 6 ? i : 0,
  }));
}

const tags = [
  { name: 'Windows', type: 1, mask: Uint8Array.of(0xc0) },
  // Bits behind the last entry.
  { name: 'enUS', type: 3, mask: Uint8Array.of(0xaf) },
];
const downloads = [
  { ekey: bytesOf('1'), size: 2 ** 33, priority: -1, checksum: 7, flags: 1 },
  { ekey: bytesOf('2'), size: 5, priority: 2, checksum: 8, flags: 0 },
];
const blteRow = { encodedSize: 8, decodedSize: 7, md5: bytesOf('1'), decodedMd5: bytesOf('2') };
const span = { offset: 0, size: 5, ekey: bytesOf('1', 9), encodedSize: 6, contentSize: 5, ckey: bytesOf('2') };
const patched = {
  targetSize: 9,
  patches: [{ sourceEkey: bytesOf('7'), sourceSize: 8, patchEkey: bytesOf('8'), patchSize: 3, order: 0 }],
};
const manyPatched = Array.from({ length: 300 }, (_, i) => ({ ...patched, targetCkey: md5(Uint8Array.of(i, i >> 8)) }));
const snoGroups = [[], [{ group: 1, snoId: 7, name: 'Rock' }], [{ group: 2, snoId: 8, name: 'Wind' }]];
const wowRow = (fileDataId: number) => ({ fileDataId, ckey: bytesOf('3'), nameHash: nameHash(`file-${fileDataId}`) });
const wowBlocks = [
  { contentFlags: 0x80, localeFlags: 2, rows: [wowRow(1), wowRow(9)] },
  { contentFlags: 0x10000080, localeFlags: 4, rows: [{ ...wowRow(5), nameHash: undefined }] },
];
const localEntry = { key: Uint8Array.of(0x50, 0, 0, 0, 0, 0, 0, 0, 0), archive: 3, offset: 99, size: 400 };
const otherLocalEntry = { ...localEntry, key: Uint8Array.of(0x60, 0x30, 0, 0, 0, 0, 0, 0, 0), archive: 4 };
const localUpdate = { row: encodeLocalRow(localEntry, 5), status: 3 };
const localUpdates = Array.from({ length: 30 }, (_, status) => ({ ...localUpdate, status: status & 7 }));
const words = Uint8Array.from({ length: 284 }, (_, i) => i & 0xff);

const table = 'Region!STRING:0|Version!String:0';

/** Samples without any of some options, with each of them alone, and with all: an option that did nothing would give a sample twice. */
function withEach<Options extends object>(
  options: Options,
  encode: (options: Partial<Options>) => Uint8Array,
): Uint8Array[] {
  const alone = Object.entries(options).map(([name, value]) => encode({ [name]: value } as Partial<Options>));
  return [encode({}), ...alone, encode(options)];
}

/** Small samples, of our own encoders and by hand. */
export const samples: Record<FormatName, readonly Uint8Array[]> = {
  'Armadillo key': [encodeArmadilloKey(bytesOf('a'))],
  'BLTE header': [
    encodeBlteHeader(),
    encodeBlteHeader({ format: 0x0f, rows: [blteRow, blteRow] }),
    encodeBlteHeader({ format: 0x10, rows: [blteRow] }),
  ],
  'cipher head': (['salsa20', 'arc4'] as const).map((cipher) =>
    encodeCipherHead({ keyName: '0123456789abcdef', iv: bytesOf('1', 4), cipher }),
  ),
  espec: [
    'n',
    'z',
    'z:{6}',
    'z:{6,mpq}',
    'b:{1K*3=z:9,256K*=n}',
    'b:*=n',
    `e:{${'A1'.repeat(8)},01020304,z}`,
    'c:{4}',
  ].map((spec) => text(spec)),
  config: [text('\ufeff# top', '', 'a = 1 2', 'a =', '# between', 'b=x', ' c  =  y ', ''), text('a = 1\r', 'b = 2')],
  'build config': [
    text('# Build Configuration', '', `encoding = ${key('1')} ${key('2')}`, 'encoding-size = 1 2', 'odd = x', ''),
  ],
  'CDN config': [
    text('# CDN Configuration', '', `archives = ${key('1')} ${key('2')}`, 'archives-index-size = 3 4', '', ''),
  ],
  'patch config': [
    text(`patch-entry = size ${key('1')} 5 ${key('2')} 4 z ${key('3')} 6 ${key('4')} 7`, `patch = ${key('5')}`),
  ],
  'patch config, of its values': [
    text(
      '# Patch Configuration',
      '',
      `patch = ${key('5')}`,
      'patch-size = 9',
      `patch-entry = size ${key('1')} 5 ${key('2')} 4 z ${key('3')} 6 ${key('4')} 7`,
      `patch-entry = install ${key('1')} 5 ${key('2')} 4`,
      '',
    ),
  ],
  'key list': [
    text(`${'0A'.repeat(8)} ${'0B'.repeat(16)} WOW-1 salsa20 x`, `${'0C'.repeat(8)} ${'0D'.repeat(16)}`, ''),
  ],
  'key ring': [text(`key-${'0123456789abcdef'} = ${key('a')}`, `key-${'f'.repeat(16)} = ${key('b')}`, '')],
  'product config': [text('{"all":{"config":{"product":"WoW","tags":["OSX"]}},"platform":{"z":1,"a":[]}}')],
  'archive index': [
    ...[0, 4, 5, 6].map((offsetBytes) => encodeArchiveIndex(someEntries(200, offsetBytes), { offsetBytes }).bytes),
    ...withEach(
      { hashBytes: 16, pageSize: 8192, flags: 0x102, countIsBigEndian: true },
      (shape) => encodeArchiveIndex(someEntries(400), shape).bytes,
    ),
    encodeArchiveIndex([]).bytes,
    encodeArchiveGroup([decodeArchiveIndex(encodeArchiveIndex(someEntries(20)).bytes)]).bytes,
  ],
  'index footer': [encodeArchiveIndex(someEntries(300)).bytes.subarray(-28)],
  '.build.info': [
    encodeBuildInfo({ builds: [{ active: true, buildKey: key('1'), hosts: ['a', 'b'], version: '1.2' }] }),
    text(`Build Key!HEX:16|Odd!STRING:0|cdn path!STRING:0`, `${key('A')}|x|/tpr/wow`, ''),
  ],
  'local header': [encodeLocalHeader({ ekey: key('4'), size: 90, flags: 3 }, localPlace)],
  'local index': [
    encodeLocalIndex({ bucket: 5, sorted: [], updates: [localUpdate], shape: { updatesOffset: 0x1000 } }),
    ...withEach({ isHashedWhole: true, largestPlace: 7n, fileSize: 0x20000 }, (shape) =>
      encodeLocalIndex({ bucket: 5, sorted: [localEntry, otherLocalEntry], updates: localUpdates, shape }),
    ),
  ],
  'updates of a local index': [encodeLocalUpdates(localUpdates)],
  shmem: [
    encodeShmem({
      version: 5,
      headerSize: 0x154,
      dataFolder: 'Global\\C:/x',
      freeTable: { offset: 0x154, size: 0x2ab8 },
      generations: [1, 2],
      rest: new Uint8Array(0x3000).fill(9),
    }),
  ],
  'download manifest': [
    encodeDownload({ entries: downloads, count: 2, tags }),
    encodeDownload({ version: 2, entries: downloads, count: 2, tags }),
    ...withEach({ hasChecksum: true, flagSize: 1, basePriority: -3, reserved: Uint8Array.of(1, 2, 3) }, (shape) =>
      encodeDownload({ version: 3, ...shape, entries: downloads, count: 2, tags }),
    ),
  ],
  'encoding file': [
    encodeEncoding({ ckeys: [], ekeys: [], especs: [] }),
    ...withEach({ ckeyPageSize: 8192, ekeyPageSize: 1024, flags: 7 }, (layout) =>
      encodeEncoding({ ckeys: [{ ckey: key('1'), size: 2, ekeys: [key('2')] }], ekeys: [], especs: ['n'], layout }),
    ),
    encodeEncoding({
      ckeys: someEntries(500).map(({ ekey, size }) => ({ ckey: md5Hex(ekey), size, ekeys: [md5Hex(ekey), key('1')] })),
      ekeys: someEntries(500).map(({ ekey, size }) => ({ ekey: md5Hex(ekey), especIndex: size % 2, size })),
      especs: ['n', 'z'],
      ownEspec: 'odd',
    }),
  ],
  'install manifest': [
    encodeInstall({
      version: 1,
      tags,
      entries: [
        { path: 'a\\b.exe', ckey: key('1'), size: 5 },
        { path: 'c', ckey: key('2'), size: 6 },
      ],
    }),
    encodeInstall({
      version: 2,
      tags: [],
      entries: [{ path: 'ü', ckey: key('1'), size: 5, fileType: 3 }],
      headerExtra: Uint8Array.of(1, 2, 3, 4, 5, 6),
    }),
  ],
  'size manifest': [
    ...withEach({ version: 1 as const, ekeyBytes: 16, total: 99 }, (shape) =>
      encodeSize({ entries: downloads.map(({ ekey }) => ({ ekey, size: 5 })), count: 2, tags, ...shape }),
    ),
    encodeSize({ version: 1, longHeader: true, sizeBytes: 6, entries: downloads, count: 2, tags }),
  ],
  'patch index': [
    encodePatchIndex({ entries: [patchIndexEntry(16), patchIndexEntry(16)] }),
    encodePatchIndex({
      keySize: 9,
      extraHeader: Uint8Array.of(4, 5),
      blocks: [
        { type: 99, bytes: Uint8Array.of(1, 2) },
        { type: 2, bytes: new Uint8Array() },
      ],
      entries: [patchIndexEntry(9)],
    }),
  ],
  'patch manifest': [
    ...withEach(
      {
        version: 1,
        flags: 1,
        blockBits: 12,
        padding: 3,
        encoding: { ckey: bytesOf('1'), ekey: bytesOf('2'), size: 3, encodedSize: 4, espec: 'b:{22=n}' },
      },
      (header) => encodePatchManifest({ ...header, files: manyPatched }),
    ),
  ],
  'content manifest': [
    encodeContentManifest({
      form: '1.48',
      build: 70000,
      version: 26,
      words: [0, 1, 2, 3, 4, 5, 6, 7, 0, 9, 0],
      entries: [new Uint8Array(20).fill(1)],
      assets: [{ guid: '0d80000000000012', size: 5, ckey: key('a'), unknown: 9 }],
    }),
    encodeContentManifest({
      form: '1.22',
      build: 50000,
      version: 3,
      encrypted: true,
      assetCount: 5,
      entryCount: 6,
      words: [0, 1, 2, 3],
      body: Uint8Array.of(1, 2, 3),
    }),
  ],
  'Packages.dat': [encodeDiablo3Packages(['a\\b.smp', 'c'])],
  'CoreTOC of Diablo III': [encodeDiablo3Toc({ groups: snoGroups, unknown: words })],
  'Diablo III root': [encodeDiablo3Root([{ name: 'Base', ckey: key('1') }])],
  'Diablo III folder': [
    encodeDiablo3Folder({
      assets: [
        { snoId: 1, ckey: key('1') },
        { snoId: 2, part: 3, ckey: key('2') },
      ],
      named: [{ name: 'x\\y', ckey: key('3') }],
    }),
  ],
  'CoreTOC of Diablo IV': [
    encodeDiablo4Toc({ newer: false, unknown: 4, groups: snoGroups.map((entries) => ({ entries })) }),
    encodeDiablo4Toc({
      newer: true,
      unknown: 4,
      groups: snoGroups.map((entries, i) => ({ entries, secondCount: i + 5, formatHash: i })),
    }),
  ],
  EncryptedNameDict: [encodeEncryptedNames([{ group: 1, snoId: 2, name: 'Locked' }])],
  EncryptedSNOs: [encodeEncryptedSnos([{ group: 1, snoId: 2, keyName: 0xf123456789abcdefn }])],
  'shared payloads': [
    encodeSharedPayloads({ payloads: [{ snoId: 1, payloadOf: 2 }] }),
    encodeSharedPayloads({
      payloads: [],
      children: [{ child: { snoId: 1, subId: 2 }, payloadOf: { snoId: 3, subId: 4 } }],
    }),
  ],
  listfile: [text('1;interface/a.blp', '4294967295;World\\B b.wdt', 'plain/name', '')],
  MAR: [encodeMar({ keys: ['b', 'a/y', 'a/x', ''].map((name) => ({ name: text(name) })) })],
  'MNDX root': [
    encodeMndx({
      header: { headerVersion: 2, version: 1, builds: [3, 4] },
      packages: ['mods/empty'],
      files: ['Rock.dds', 'Wind.ogg'].map((name, size) => ({
        package: 'mods/Core',
        name: `mods/Core/${name}`,
        ckey: key('1'),
        size,
      })),
    }),
    encodeMndx({ header: { headerVersion: 1, version: 2 }, files: [] }),
  ],
  'Overwatch root': [
    text('#MD5|FILENAME|ODD', `${key('1')}|a/b.exe|x`, ''),
    text('MD5|FILENAME\r', `${key('1')}|a\r`, '\r', `${key('2')}|b`),
  ],
  'package manifest': [
    ...withEach({ header: words.subarray(0, 24), row: words.subarray(0, 72) }, ({ row, ...header }) =>
      encodePackageManifest({
        headerSize: 24,
        packageSize: 72,
        build: 24919,
        ...header,
        entries: [new Uint8Array(12).fill(2)],
        packages: [
          {
            guid: '0d80000000000012',
            keyName: '0'.repeat(16),
            content: { size: 4, ckey: key('b') },
            ...(row !== undefined && { row }),
          },
        ],
      }),
    ),
  ],
  'text root': [
    text(`HD2/a.anim|${key('1')}`, `x.dds:deDE|${key('2')}`, ''),
    text(`#war3.mpq:units\\a.slk|${key('1')}|\r`, `b|${key('2')}|enUS\r`, '\r', `c|${key('3')}||7`),
  ],
  'TVFS manifest': (['folders', 'prefixes'] as const).flatMap((form) => [
    encodeTvfs({ form, entries: [{ path: 'a', spans: [{ ...span, espec: 'n' }] }] }),
    encodeTvfs({
      form,
      especs: ['n', 'z'],
      header: { flags: 0xf },
      entries: [
        { path: 'data/enUS/one', spans: [{ ...span, espec: 'z' }] },
        { path: 'data/enUS/two/three', spans: [{ ...span, ekey: bytesOf('0', 9) }, span] },
        { path: 'data/other', kind: 'deleted', spans: [] },
      ],
    }),
    encodeTvfs({
      form,
      header: { flags: 0, ekeySize: 16, patchKeySize: 4 },
      entries: ['x/y/z', 'x/y/zz', 'w'].map((path) => ({ path, spans: [{ ...span, ekey: bytesOf('5') }] })),
    }),
  ]),
  'WoW root': (['headerless', 'tsfm0', 'tsfm1', 'tsfm2'] as const).flatMap((form) => [
    encodeWowRoot({ form, blocks: wowBlocks }),
    encodeWowRoot({ form, total: 77, named: 77, blocks: wowBlocks.slice(0, 1) }),
  ]),
  'BPSV table': [
    text(table, '## seqn = 5', 'us|1', 'eu|', ''),
    text('## seqn = 5\r', '\r', `${table}\r`, '# end\r', 'us|1'),
    text(table, 'us|1'),
    text(''),
  ],
  'Ribbit answer': [encodeRibbit({ data: text(table, ''), disposition: 'versions' })],
};

function patchIndexEntry(keySize: number) {
  return {
    sourceEkey: bytesOf('1', keySize),
    sourceSize: 5,
    patchEkey: bytesOf('2', keySize),
    patchSize: 6,
    patchDecodedSize: 7,
    mark: 1,
    targetEkey: bytesOf('3', keySize),
  };
}
