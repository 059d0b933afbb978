import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../../src/core/byte-source.ts';
import { shareDirectory } from '../../../../src/paks/many-entries.ts';
import type { Pak } from '../../../../src/paks/pak.ts';
import { decodeEncodedEntry, fitsEncodedEntry } from '../../../../src/paks/unreal/index/encoded-entry.ts';
import { unreal } from '../../../../src/paks/unreal/index.ts';
import type { UnrealOptions } from '../../../../src/paks/unreal/options.ts';
import { writeUnrealPak } from '../../../../src/paks/unreal/write/write.ts';
import { gather, packed, packFile } from '../../../support/pak-sources.ts';
import { frozenPak, legacyPak, type UnrealShape, unrealPak } from '../../../support/pak-unreal.ts';

const key = new Uint8Array(32).fill(7);
const rows = [
  { name: 'Content/a.uasset', content: Buffer.from('first') },
  { name: 'Content/Maps/b.umap', content: Buffer.from('second') },
  { name: 'root.txt', content: Buffer.from('fourth') },
];

async function open(bytes: Uint8Array, options: UnrealOptions = {}, shared?: unknown): Promise<Pak> {
  return unreal.open(bytesSource(bytes), options, shared);
}

/** All that threads ask of a PAK. */
async function told(pak: Pak): Promise<unknown> {
  const entries = pak.entries.map((entry) => {
    const { index, name, size, storedSize, offset, method, encrypted, hidden } = entry;
    return { index, name, size, storedSize, offset, method, encrypted, hidden };
  });
  return [entries, await Promise.all(pak.entries.map((entry) => pak.verify(entry, { decode: true })))];
}

describe('the index of an open PAK opens it again', () => {
  const shape = (more: Partial<UnrealShape>): UnrealShape => ({ version: 11, ...more });
  test.each([
    ['version 2', legacyPak(rows, { version: 2 }), {}],
    ['version 11', unrealPak(rows, shape({})), {}],
    ['hashes only', unrealPak(rows, shape({ hasDirectory: false, pruned: ['root.txt'] })), {}],
    ['a directory only', unrealPak(rows, shape({ version: 12, hasPathHashes: false })), {}],
    [
      'plain entries',
      unrealPak(
        rows.map((row) => ({ ...row, isPlain: true })),
        shape({}),
      ),
      {},
    ],
    ['an encrypted index', unrealPak(rows, shape({ key, encryptIndex: true, encryptData: true })), { keys: [key] }],
    [
      'IVs',
      unrealPak(rows, shape({ version: 15, isCtr: true, key, encryptIndex: true, encryptData: true })),
      { keys: [key] },
    ],
    ['another encoding', legacyPak(rows, { version: 3 }), { encoding: 'utf-16le' }],
  ])('%s', async (_what, bytes, options) => {
    await expectShared(bytes, options);
  });

  test.each(['3', '8A', '9', '10', '11', '12'])('names in UTF-16, version %s', async (version) => {
    const files = [...rows.map(({ name }) => packFile(name, 'x')), packFile('Content/\u65e5\u672c/a.umap', 'y')];
    await expectShared(
      await packed((sink) => writeUnrealPak(files, sink, { version, compress: version === '3' ? 'zlib' : 'none' })),
      {},
    );
  });

  async function expectShared(bytes: Uint8Array, options: UnrealOptions): Promise<void> {
    const pak = await open(bytes, options);
    const shared = structuredClone(shareDirectory(pak));
    expect(shared?.family).toBe('unreal');
    const damaged = bytes.slice();
    // The index itself is not looked at again.
    const { indexOffset = 0, indexSize = 0 } = pak.facts as { indexOffset?: number; indexSize?: number };
    damaged.fill(0xff, indexOffset, indexOffset + indexSize);
    expect(await told(await open(damaged, options, shared?.directory))).toEqual(await told(pak));
  }

  test('bytes are shared, not copied', async () => {
    const { directory } = shareDirectory(await open(unrealPak(rows, shape({})))) as {
      directory: { rows: Record<string, unknown> };
    };
    const { index, filePlaces } = directory.rows as { index: Uint8Array; filePlaces: Uint32Array };
    expect([index.buffer, filePlaces.buffer].map((buffer) => buffer instanceof SharedArrayBuffer)).toEqual([
      true,
      true,
    ]);
  });

  test('a frozen or a flat one is read by each thread for itself', async () => {
    const frozen = frozenPak([], '../../../');
    expect(shareDirectory(await open(frozen))).toBeUndefined();
    expect(shareDirectory(await open(unrealPak(rows, shape({ version: 13, isFlat: true }))))).toBeUndefined();
  });
});

describe('every name is found, the first and the tenth time, whatever its case', () => {
  const names = [
    'Content/a.uasset',
    'Content/Maps/b.umap',
    'Content/Maps/\u65e5\u672c.umap',
    'Odd/\u00c9.bin',
    'root.txt',
  ];
  const files = names.map((name) => packFile(name, name));

  test.each(['3', '7', '10', '11', '12'])('in version %s', async (version) => {
    const bytes = await packed((sink) => writeUnrealPak(files, sink, { version }));
    for (const asked of [...names, ...names.map((name) => name.toUpperCase())]) {
      const pak = await open(bytes);
      const name = names.find((one) => one.toLowerCase() === asked.toLowerCase());
      for (let time = 0; time < 10; time++) expect(pak.find(asked)?.name).toBe(name);
      expect(pak.find(asked)?.hidden).toBeUndefined();
    }
    const listed = (await open(bytes)).entries.map(({ name }) => name);
    expect(listed.toSorted()).toEqual(names.toSorted());
  });

  test('in another encoding', async () => {
    const bytes = legacyPak([{ name: 'ab', content: Buffer.from('x') }], { version: 3 });
    const name = Buffer.from('ab').toString('utf16le');
    for (const asked of ['ab', name]) {
      expect((await open(bytes, { encoding: 'utf-16le' })).find(asked)?.name).toBe(asked === name ? name : undefined);
    }
  });
});

test('a path of which the index has the hash alone is found, the first and the twentieth time, and of two rows of one hash the last', async () => {
  const files = Array.from({ length: 300 }, (_, i) => ({
    name: `Content/File${i}.uasset`,
    content: Buffer.from(`${i}`),
  }));
  const again = { name: 'content/FILE7.uasset', content: Buffer.from('again') };
  const pak = await open(unrealPak([...files, again], { version: 11, hasDirectory: false }));
  const textOf = async (name: string): Promise<string> =>
    Buffer.from(await gather(pak.read(pak.find(name)!))).toString();
  for (let time = 0; time < 20; time++) {
    expect(await textOf('Content/File7.uasset')).toBe('again');
    expect(await textOf('CONTENT/file299.uasset')).toBe('299');
    expect(await textOf(`Content/File${time}.uasset`)).toBe(time === 7 ? 'again' : `${time}`);
    expect(pak.find(`Content/File${300 + time}.uasset`)).toBeUndefined();
  }
});

test('a plain entry has its own IV', async () => {
  const plain = rows.map((row) => ({ ...row, isPlain: true }));
  const bytes = unrealPak(plain, { version: 15, isCtr: true, key, encryptData: true });
  const pak = await open(bytes, { keys: [key] });
  const texts = await Promise.all(
    pak.entries.map(async (entry) => Buffer.from(await gather(pak.read(entry))).toString()),
  );
  expect(texts).toEqual(rows.map(({ content }) => content.toString()));
});

test('an entry that is found is the one that is listed, before and after', async () => {
  const pak = await open(legacyPak(rows, { version: 3 }));
  const found = pak.find('ROOT.TXT');
  expect(found?.index).toBe(2);
  expect(pak.find('root.txt')).toBe(found);
  expect(pak.entries[2]).toBe(found);
  expect(pak.entries).toBe(pak.entries);
});

test('an encoded entry that is said to fit is decoded', () => {
  let state = 12345;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 24;
  };
  const counts = { fits: 0, not: 0 };
  for (let round = 0; round < 4000; round++) {
    const bytes = Uint8Array.from({ length: round % 40 }, next);
    // Few blocks and small numbers, as most have them.
    if (round % 2 === 0 && bytes.length > 3) bytes.set([bytes[0]!, bytes[1]! & 1, bytes[2]! & 0xc0, bytes[3]! | 0xe0]);
    const hasIvs = round % 3 === 0;
    const format = { version: 11, hasByteMethod: false, hasIvs };
    const fits = fitsEncodedEntry(new DataView(bytes.buffer), 0, format);
    counts[fits ? 'fits' : 'not'] += 1;
    if (fits) expect(() => decodeEncodedEntry(bytes, 0, format)).not.toThrow();
  }
  expect(Math.min(counts.fits, counts.not)).toBeGreaterThan(300);
});
