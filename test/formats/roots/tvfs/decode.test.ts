import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { toHex } from '../../../../src/core/bytes.ts';
import { md5Hex } from '../../../../src/core/hash.ts';
import { decodeTvfs } from '../../../../src/formats/roots/tvfs/decode.ts';
import { encodeTvfs, type TvfsContent } from '../../../../src/formats/roots/tvfs/encode.ts';
import { TvfsFlags, type TvfsSpan } from '../../../../src/formats/roots/tvfs/layout.ts';
import { parseWowTvfsName } from '../../../../src/formats/roots/tvfs/wow-name.ts';
import { conformanceBytes, describeConformance } from '../../../support/conformance.ts';
import { expectHostileSafe } from '../../../support/hostile.ts';
import { codeOf } from '../../../support/thrown-code.ts';
import { makeSyntheticCdn, type SyntheticCdn, unpackBlte } from '../synthetic-cdn.ts';

describeConformance('a real manifest, WoW Classic Era 1.15.8.65989', () => {
  const real = () => conformanceBytes('tact/cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.bin');

  test('header, especs and all 239 files', () => {
    const tvfs = decodeTvfs(real());
    expect(tvfs.header).toMatchObject({ version: 1, headerSize: 46, ekeySize: 9, flags: 7, maxDepth: 8 });
    expect(tvfs.header.containerTable).toEqual({ offset: 3512, size: 8500 });
    expect(tvfs.especs).toEqual(['b:256K*=z', 'b:{256K*=z}']);
    const files = [...tvfs.files];
    expect(files.length).toBe(239);
    expect([tvfs.fileCount, tvfs.skippedCount]).toEqual([239, 0]);
    expect(files.every(({ kind, spans }) => kind === 'file' && spans.length === 1)).toBe(true);
    expect(files.every(({ spans: [span] }) => span!.offset === 0 && span!.size === span!.contentSize)).toBe(true);
  });

  test('the first file is the old root, with the ckey of the build config and its five patches', () => {
    const [root] = decodeTvfs(real()).files;
    expect(root!.path).toBe('.root');
    expect(toHex(root!.spans[0]!.ckey!)).toBe('9fe5e665742d1ac017e14ec5280521dc');
    expect(root!.spans[0]!.size).toBe(6_595_256);
    expect(root!.spans[0]!.patches!.map(({ order }) => order)).toEqual([0, 1, 2, 3, 4]);
    expect(toHex(root!.spans[0]!.patches![0]!.sourceEkey)).toBe('3c5a592bf4e403263e');
    expect(root!.spans[0]!.patches![0]!.patchSize).toBe(6761);
  });

  test('the nested manifests are those that the build config names, keys and sizes alike', () => {
    const config = new TextDecoder().decode(
      conformanceBytes('tact/cascette-rs/config/wow_classic_era_build_config.txt'),
    );
    const known = new Map<string, string>();
    for (const [, ckey, ekey] of config.matchAll(/^vfs-\d+ = (\w+) (\w+)$/gm)) known.set(ckey!, ekey!);
    const sizes = new Set([...config.matchAll(/^vfs-\d+-size = (\d+ \d+)$/gm)].map(([, pair]) => pair));
    const nested = [...decodeTvfs(real()).files].filter(({ path }) => path !== '.root');
    for (const { path, spans } of nested) {
      const [span] = spans as [TvfsSpan];
      expect(path).toMatch(/^[0-9A-F]{12}$/);
      expect(known.get(toHex(span.ckey!))?.slice(0, 18)).toBe(toHex(span.ekey));
      expect(sizes.has(`${span.contentSize} ${span.encodedSize}`)).toBe(true);
    }
    expect(nested.length).toBe(238);
  });

  test('its BLTE form holds the same', () => {
    const blte = conformanceBytes('tact/cascette-rs/tvfs/wow_classic_era_04ca19154f0c48b1.blte');
    expect(md5Hex(unpackBlte(blte))).toBe('04ca19154f0c48b1a0ed06dc342fa6b1');
    expect(decodeTvfs(unpackBlte(blte)).fileCount).toBe(239);
  });

  test('it comes out of the encoder byte for byte', () => {
    const tvfs = decodeTvfs(real());
    const again = encodeTvfs(tvfs);
    expect(md5Hex(again)).toBe('04ca19154f0c48b1a0ed06dc342fa6b1');
  });

  test('hostile forms of it', () => {
    expectHostileSafe((bytes) => [...decodeTvfs(bytes).entries], real(), { samples: 60 });
  });
});

describeConformance('TVFS of an encoder that is not ours', () => {
  let cdn: SyntheticCdn;
  beforeAll(() => {
    cdn = makeSyntheticCdn('--layout', 'tvfs');
  });
  afterAll(() => cdn.remove());

  test.each(['a', 'b'] as const)('build %s: every file as the truth has it, and the same bytes again', (build) => {
    const config = cdn.config(build);
    const outer = cdn.object(config.get('vfs-root')![1]!);
    const innerKey = config.get('vfs-2')![1]!;
    const found: string[] = [];
    const pieces: TvfsSpan[][] = [];
    for (const { path, spans } of decodeTvfs(outer).files) {
      if (spans.length > 1) pieces.push(spans);
      else if (innerKey.startsWith(toHex(spans[0]!.ekey))) expect(path).toBe('interface');
      else found.push(line(path, spans[0]!));
    }
    for (const { path, spans } of decodeTvfs(cdn.object(innerKey)).files)
      found.push(line(`interface/${path}`, spans[0]!));
    const wanted = cdn
      .truth(`build-${build}`)
      .filter((row) => row.locale !== '#lowviolence' && row.size !== '0')
      .map((row) => {
        const folder = row.locale === '-' ? '' : `${row.locale!.toLowerCase()}/`;
        return [folder + row.name, row.size, row.esize, row.ckey, row.ekeys!.slice(0, 18)].join(' ');
      });
    expect(found.sort()).toEqual(wanted.sort());
    expect(wanted.length).toBeGreaterThan(300);
    expect(pieces.map((spans) => spans.map(({ offset, size }) => [offset, size]))).toEqual(
      Array(2).fill([
        [0, 20_000],
        [20_000, 20_777],
        [40_777, 21_554],
      ]),
    );
    for (const bytes of [outer, cdn.object(innerKey)]) {
      const tvfs = decodeTvfs(bytes);
      expect(md5Hex(encodeTvfs(tvfs))).toBe(md5Hex(bytes));
    }
  });

  const line = (path: string, span: TvfsSpan) =>
    [path, span.size, span.encodedSize, toHex(span.ckey!), toHex(span.ekey)].join(' ');
});

const bytesOf = (seed: number, size: number) =>
  Uint8Array.from({ length: size }, (_, i) => (seed * 37 + i * 11) & 0xff);

function spanOf(seed: number): TvfsSpan {
  const patch = {
    sourceEkey: bytesOf(seed, 9),
    sourceSize: seed,
    patchKey: bytesOf(seed + 1, 9),
    patchSize: 7,
    order: 2,
  };
  return {
    offset: 0,
    size: 1000 + seed,
    ekey: bytesOf(seed, 9),
    encodedSize: 500 + seed,
    contentSize: 1000 + seed,
    ckey: bytesOf(seed + 2, 16),
    espec: seed % 2 === 0 ? 'z' : 'b:{256K*=z}',
    ...(seed % 3 === 0 ? { patches: [patch, { ...patch, order: 3 }] } : {}),
  };
}

const paths = [
  'a',
  'a/b',
  'a-b',
  'a/b.txt',
  'a/bc/d',
  'x/y/z',
  'x/y',
  'foobar',
  'foo',
  'q/r/s/t/u',
  'one/way/in',
  'one/way/out',
  'Zürich/straße',
  'Zürich/strand',
  '日本',
];
const sampleFiles = paths.map((path, i) => ({ path, spans: i === 3 ? [spanOf(40), spanOf(41)] : [spanOf(i)] }));

describe.each(['folders', 'prefixes'] as const)('round trip, cut at %s', (form) => {
  test.each(Array.from({ length: 16 }, (_, flags) => flags))('flags %i', (flags) => {
    const tvfs = decodeTvfs(encodeTvfs({ entries: sampleFiles, header: { flags }, form }));
    const found = new Map(Array.from(tvfs.files, (file) => [file.path, file.spans]));
    expect([...found.keys()].sort()).toEqual([...paths].sort());
    for (const { path, spans } of sampleFiles) {
      const kept = spans.map((span) => {
        const left: Partial<TvfsSpan> = { ...span };
        if ((flags & TvfsFlags.ckeys) === 0) delete left.ckey;
        if ((flags & TvfsFlags.especs) === 0) delete left.espec;
        if ((flags & TvfsFlags.patches) === 0) delete left.patches;
        return left;
      });
      expect(found.get(path)).toEqual(kept);
    }
  });

  test.each([1, 10, 1000, 3000])('%i files: offsets of one to three bytes', (count) => {
    const files = Array.from({ length: count }, (_, i) => ({
      path: `folder${i % 7}/sub${i % 31}/file-${i}.bin`,
      spans: [{ ...spanOf(0), ekey: Uint8Array.of(0, 0, 0, 0, 0, 0, i >>> 16, i >>> 8, i), size: i }],
    }));
    const tvfs = decodeTvfs(encodeTvfs({ entries: files, header: { flags: 7 }, form }));
    expect(tvfs.fileCount).toBe(count);
    const numbers = Array.from(tvfs.files, ({ path, spans: [span] }) => {
      const number = Number(/\d+(?=\.bin)/.exec(path)![0]);
      return span!.size === number && span!.ekey[8] === (number & 0xff) ? number : -1;
    });
    expect(numbers.sort((x, y) => x - y)).toEqual(Array.from({ length: count }, (_, i) => i));
  });

  test('deleted entries and such of unknown meaning are kept apart from files', () => {
    const files: TvfsContent['entries'] = [
      { path: 'gone', kind: 'deleted', spans: [] },
      { path: 'here', spans: [spanOf(1)] },
      { path: 'odd', kind: 'other', count: 230, spans: [] },
      { path: 'void', kind: 'other', count: 0, spans: [] },
    ];
    const tvfs = decodeTvfs(encodeTvfs({ entries: files, form }));
    expect([tvfs.fileCount, tvfs.skippedCount]).toEqual([1, 3]);
    expect(Array.from(tvfs.files, ({ path }) => path)).toEqual(['here']);
    expect(Array.from(tvfs.entries, ({ path, kind, count }) => [path, kind, count])).toEqual([
      ['gone', 'deleted', 255],
      ['here', 'file', 1],
      ['odd', 'other', 230],
      ['void', 'other', 0],
    ]);
  });

  test('an ekey whose sizes differ from span to span keeps them apart', () => {
    const files = [1, 2, 1].map((encodedSize, i) => ({ path: `f${i}`, spans: [{ ...spanOf(2), encodedSize }] }));
    const found = Array.from(
      decodeTvfs(encodeTvfs({ entries: files, form })).files,
      ({ spans: [span] }) => span!.encodedSize,
    );
    expect(found).toEqual([1, 2, 1]);
  });

  test('no files at all', () => {
    expect([...decodeTvfs(encodeTvfs({ entries: [], form })).entries]).toEqual([]);
  });
});

test('offsets of four bytes', () => {
  const patches = Array(255).fill(spanOf(3).patches![0]);
  const files = Array.from({ length: 2500 }, (_, i) => ({
    path: `file-${i}`,
    spans: [{ ...spanOf(0), ekey: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, i >>> 8, i), contentSize: i, patches }],
  }));
  const tvfs = decodeTvfs(encodeTvfs({ entries: files }));
  expect(tvfs.header.containerTable.size).toBeGreaterThan(0xffffff);
  expect(tvfs.header.vfsTable.size).toBe(2500 * (1 + 4 + 4 + 4));
  const wrong = Array.from(tvfs.files).filter(({ path, spans: [span] }) => `file-${span!.contentSize}` !== path);
  expect(wrong).toEqual([]);
});

/** A manifest of one file of one span, with a path table made by hand. */
function withPathTable(table: number[]): Uint8Array {
  const plain = encodeTvfs({ entries: [{ path: 'x', spans: [spanOf(1)] }], header: { flags: 0 } });
  const bytes = new Uint8Array(plain.length + table.length);
  bytes.set(plain);
  bytes.set(table, plain.length);
  new DataView(bytes.buffer).setUint32(0x0c, plain.length);
  new DataView(bytes.buffer).setUint32(0x10, table.length);
  return bytes;
}

const pathsOf = (table: number[]) => Array.from(decodeTvfs(withPathTable(table)).files, ({ path }) => path);
const file = [0xff, 0, 0, 0, 0];
const [a, b, c] = [0x61, 0x62, 0x63] as const;
const nested = (depth: number): number[] => {
  let table: number[] = [1, a, ...file];
  for (let i = 0; i < depth; i++) {
    const size = table.length + 4;
    table = [0xff, 0x80, 0, size >>> 8, size & 0xff, ...table];
  }
  return table;
};

describe('path tables', () => {
  test('separators before, behind and between names', () => {
    expect(pathsOf([1, a, ...file])).toEqual(['a']);
    expect(pathsOf([1, a, 1, b, ...file, 1, c, ...file])).toEqual(['a/b', 'c']);
    expect(pathsOf([1, a, 0xff, 0x80, 0, 0, 12, 0, 1, b, ...file])).toEqual(['a/b']);
    expect(pathsOf([1, a, 0, 0xff, 0x80, 0, 0, 11, 1, b, ...file])).toEqual(['a/b']);
    expect(pathsOf([1, a, 0xff, 0x80, 0, 0, 11, 1, b, ...file])).toEqual(['ab']);
    expect(pathsOf([0, 1, a, 0, 1, b, 0, ...file])).toEqual(['a/b']);
  });

  test('a folder whose name came in pieces, with two files; the pieces do not reach behind it', () => {
    expect(pathsOf([1, a, 1, b, 0xff, 0x80, 0, 0, 18, 1, a, ...file, 1, b, ...file, 1, c, ...file])).toEqual([
      'a/ba',
      'a/bb',
      'c',
    ]);
  });

  test('nonsense is refused', () => {
    expect(codeOf(() => pathsOf(file))).toBe('E_FORMAT');
    expect(codeOf(() => pathsOf([1, a]))).toBe('E_FORMAT');
    expect(codeOf(() => pathsOf([1, a, 0xff, 0x80, 0, 0, 3]))).toBe('E_FORMAT_RANGE');
    expect(codeOf(() => pathsOf([1, a, 0xff, 0x80, 0, 0, 99, 1, b, ...file]))).toBe('E_FORMAT_RANGE');
    // The folder ends in the midst of its file's node.
    expect(codeOf(() => pathsOf([1, a, 0xff, 0x80, 0, 0, 8, 1, b, ...file]))).toBe('E_FORMAT');
    expect(codeOf(() => pathsOf([1, a, 0xff, 0, 0, 9, 9]))).toBe('E_FORMAT_RANGE');
    expect(codeOf(() => pathsOf([9, a, ...file]))).toBe('E_FORMAT_TRUNCATED');
  });

  test('depth and length of paths are bounded', () => {
    expect(pathsOf(nested(500))).toEqual(['a']);
    expect(codeOf(() => pathsOf(nested(2000)))).toBe('E_FORMAT_RANGE');
    const long = Array.from({ length: 20 }, () => [200, ...Array(200).fill(a)]).flat();
    expect(codeOf(() => pathsOf([...long, ...file]))).toBe('E_FORMAT_RANGE');
  });

  test('many paths to one large entry do not multiply the work', () => {
    const spans = Array.from({ length: 224 }, () => spanOf(1));
    const plain = encodeTvfs({ entries: [{ path: 'x', spans }], header: { flags: 0 } });
    const table = Array.from({ length: 1000 }, () => [1, a, ...file]).flat();
    const bytes = new Uint8Array(plain.length + table.length);
    bytes.set(plain);
    bytes.set(table, plain.length);
    new DataView(bytes.buffer).setUint32(0x0c, plain.length);
    new DataView(bytes.buffer).setUint32(0x10, table.length);
    expect(codeOf(() => decodeTvfs(bytes))).toBe('E_FORMAT_RANGE');
  });
});

describe('what is wrong is said at once, not half-way through the files', () => {
  const sample = () => encodeTvfs({ entries: sampleFiles });

  test('magic, version, table outside, container outside, espec that is none', () => {
    const forge = (offset: number, value: number) => {
      const bytes = sample();
      bytes[offset] = value;
      return codeOf(() => decodeTvfs(bytes));
    };
    expect(forge(0, 0)).toBe('E_FORMAT_MAGIC');
    expect(forge(4, 2)).toBe('E_FORMAT_VERSION');
    expect(forge(6, 17)).toBe('E_FORMAT_RANGE');
    expect(forge(0x0c, 1)).toBe('E_FORMAT_TRUNCATED');
    const { header } = decodeTvfs(sample());
    expect(forge(header.vfsTable.offset + 9, 0xff)).toMatch(/^E_FORMAT_(RANGE|TRUNCATED)$/);
    expect(forge(header.containerTable.offset + 13, 1)).toBe('E_FORMAT_RANGE');
    expect(forge(header.vfsTable.offset + header.vfsTable.size - 11, 224)).toBe('E_FORMAT_TRUNCATED');
  });

  test('hostile forms, with patches and several spans', () => {
    expectHostileSafe((bytes) => [...decodeTvfs(bytes).entries], sample());
    const official = encodeTvfs({ entries: sampleFiles, form: 'prefixes' });
    expectHostileSafe((bytes) => [...decodeTvfs(bytes).entries], official);
  });

  test('the encoder refuses what could not be read back', () => {
    const refused = (files: TvfsContent['entries']) =>
      expect(codeOf(() => encodeTvfs({ entries: files }))).toBe('E_FORMAT_RANGE');
    const spans = [spanOf(1)];
    for (const path of ['', '/a', 'a/', 'a//b', 'a'.repeat(255), `${'a/'.repeat(600)}a`]) refused([{ path, spans }]);
    refused([
      { path: 'a', spans },
      { path: 'a', spans },
    ]);
    refused([{ path: 'a', spans: [] }]);
    refused([{ path: 'a', spans: Array(225).fill(spanOf(1)) }]);
    refused([{ path: 'a', spans: [{ ...spanOf(1), ekey: bytesOf(1, 16) }] }]);
    refused([{ path: 'a', kind: 'other', spans: [] }]);
  });
});

test('30,000 files decode in moderate time', () => {
  const files = Array.from({ length: 30_000 }, (_, i) => ({
    path: `data/hd/items/weapon/sword${i % 4000}/texture_${i}.dds`,
    spans: [{ ...spanOf(2), ekey: Uint8Array.of(0, 0, 0, 0, 0, 0, i >>> 16, i >>> 8, i) }],
  }));
  const bytes = encodeTvfs({ entries: files });
  const started = performance.now();
  let count = 0;
  for (const { spans } of decodeTvfs(bytes).files) count += spans.length;
  expect(count).toBe(30_000);
  expect(performance.now() - started).toBeLessThan(15_000);
});

describe('names of World of Warcraft in TVFS', () => {
  const ckey = 'D17021350DC1882DF6FC7CFC47CA890A';

  test('content flags of four digits, and of eight', () => {
    expect(parseWowTvfsName(`000173F60080:0001DAFB${ckey}`)).toEqual({
      localeFlags: 0x173f6,
      contentFlags: 0x80,
      fileDataId: 121595,
      ckey: Uint8Array.from(Buffer.from(ckey, 'hex')),
      ckeyDigits: ckey.toLowerCase(),
    });
    expect(parseWowTvfsName(`0001F3F612080080:FFFFFFFF${ckey}`)).toMatchObject({
      localeFlags: 0x1f3f6,
      contentFlags: 0x12080080,
      fileDataId: 0xffffffff,
    });
  });

  test('build 45779 lost the last digit of the ckey', () => {
    const name = parseWowTvfsName(`000000020000:000C472F02BA924C604A670B253AA02DBCD9441`)!;
    expect(name.ckey).toBeUndefined();
    expect(name).toMatchObject({ fileDataId: 0x000c472f, ckeyDigits: '02ba924c604a670b253aa02dbcd9441' });
  });

  test.each(['.root', '000173F60080', 'a:b', `000173F6008:0001DAFB${ckey}`, `000173F60080/0001DAFB${ckey}`, ''])(
    '%j is no such name',
    (path) => {
      expect(parseWowTvfsName(path)).toBeUndefined();
    },
  );
});
