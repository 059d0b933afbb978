import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../../src/core/byte-source.ts';
import { openPak } from '../../../../src/paks/index.ts';
import type { PackFile } from '../../../../src/paks/packing.ts';
import { emptyRecord } from '../../../../src/paks/unreal/entries/entry-record.ts';
import { isEncodable } from '../../../../src/paks/unreal/index/encoded-entry.ts';
import type { UnrealPackOptions } from '../../../../src/paks/unreal/write/pack-plan.ts';
import { writeUnrealPak } from '../../../../src/paks/unreal/write/write.ts';
import { conformancePath, describeConformance } from '../../../support/conformance.ts';
import { aliveBufferBytes } from '../../../support/garbage.ts';
import { randomSource } from '../../../support/hostile.ts';
import { fixtureKeys } from '../../../support/pak-fixtures.ts';
import { gather, memorySink, packed, packFile } from '../../../support/pak-sources.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { someOf } from '../../../support/some-of.ts';

const scratch = scratchFolder();

const key = new Uint8Array(32).map((_, i) => 255 - i);
const pack = (files: readonly PackFile[], options: UnrealPackOptions): Promise<Uint8Array> =>
  packed((sink) => writeUnrealPak(files, sink, options));

const random = randomSource(5);
const noise = Uint8Array.from({ length: 150_000 }, () => random() * 256);
const mtime = new Date('2001-02-03T04:05:06Z');

/** Compressible, not compressible, small, empty, and of a whole number of blocks. */
const contents: Record<string, Uint8Array> = {
  'Config/Default.ini': new TextEncoder().encode('[a]\nb=c\n'),
  'Content/empty.bin': new Uint8Array(0),
  'Content/noise.bin': noise,
  'Content/Deep/Folder/text.txt': new Uint8Array(Buffer.alloc(200_001, 'compresses well, if not very well at all. ')),
  'Content/exact.bin': new Uint8Array(131_072).fill(7),
  'Größe.txt': new TextEncoder().encode('a name that is not ASCII'),
};
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const files = (): PackFile[] =>
  Object.entries(contents).map(([name, bytes], i) => packFile(name, bytes, { mtime, pieceSize: 999 * (i + 1) }));

describeConformance('the same files give the same bytes as the tools that made the real ones', () => {
  const unrealPakKey = (): Uint8Array => fixtureKeys()[1]!;
  test.each<[string, UnrealPackOptions & { isSealed?: boolean }]>([
    ['repak/pack_v5.pak', { version: 5 }],
    ['repak/pack_v7.pak', { version: 7 }],
    ['repak/pack_v8a.pak', { version: '8A' }],
    ['repak/pack_v8b.pak', { version: 8 }],
    ['repak/pack_v9.pak', { version: 9 }],
    ['repak/pack_v11.pak', { version: 11 }],
    ['repak/pack_v8b_encrypt.pak', { version: 8, isSealed: true }],
    ['repak/pack_v11_encrypt.pak', { version: 11, isSealed: true }],
    ['repak/pack_v8b_encryptindex.pak', { version: 8, isSealed: true, encryptIndex: true, encryptData: false }],
    ['repak/pack_v11_encryptindex.pak', { version: 11, isSealed: true, encryptIndex: true, encryptData: false }],
    ['repak/pack_v8b_compress.pak', { version: 8, compress: 'zlib', exact: true }],
    ['repak/pack_v8b_compress_encrypt.pak', { version: 8, compress: 'zlib', exact: true, isSealed: true }],
    [
      'repak/pack_v5_compress_encrypt_encryptindex.pak',
      { version: 5, compress: 'zlib', exact: true, isSealed: true, encryptIndex: true },
    ],
    [
      'repak/pack_v8a_compress_encrypt_encryptindex.pak',
      { version: '8A', compress: 'zlib', exact: true, isSealed: true, encryptIndex: true },
    ],
    [
      'repak/pack_v9_compress_encrypt_encryptindex.pak',
      { version: 9, compress: 'zlib', exact: true, isSealed: true, encryptIndex: true },
    ],
    ['u4pak/u4pak_v3.pak', { version: 3 }],
    ['u4pak/u4pak_v3_zlib.pak', { version: 3, compress: 'zlib', exact: true }],
  ])('%s', async (name, { isSealed, ...options }) => {
    const path = conformancePath('pak/unreal', name);
    const real = await openPak(path, { keys: fixtureKeys() });
    const again: PackFile[] = [];
    for (const entry of real.entries) again.push(packFile(entry.name, await gather(real.read(entry))));
    const { mountPoint, pathHashSeed } = real.facts;
    const bytes = await pack(again.reverse(), {
      ...options,
      key: isSealed ? unrealPakKey() : undefined,
      mountPoint: String(mountPoint),
      pathHashSeed: pathHashSeed === undefined ? undefined : BigInt(String(pathHashSeed)),
    });
    expect(Buffer.from(bytes).equals(readFileSync(path))).toBe(true);
    await real.close();
  });
});

const versions = ['1', '2', '3', '4', '5', '6', '7', '8A', '8B', '9', '10', '11'];
const variants: [string, UnrealPackOptions, number][] = [
  ['plain', {}, 1],
  ['zlib', { compress: 'zlib' }, 3],
  ['zlib in blocks of 4 KiB', { compress: 'zlib', blockSize: 4096 }, 3],
  ['encrypted', { key }, 3],
  ['zlib, encrypted with its index', { compress: 'zlib', key, encryptIndex: true }, 4],
];

describe.each(versions)('version %s', (version) => {
  test.each(variants.filter(([, , since]) => Number.parseInt(version, 10) >= since))(
    '%s reads back and verifies',
    async (_label, options) => {
      const bytes = await pack(files(), { version, ...options });
      expect(Buffer.from(await pack(files().reverse(), { version, ...options })).equals(bytes)).toBe(true);
      const pak = await openPak(bytesSource(bytes), { keys: [key] });
      expect([pak.version, pak.facts.mountPoint]).toEqual([version, '../../../']);
      const names = pak.entries.map(({ name }) => name);
      // From version 10 on they are listed by folder.
      if (Number.parseInt(version, 10) >= 10) names.sort(byBytes);
      expect(names).toEqual(Object.keys(contents).sort(byBytes));
      for (const [name, content] of Object.entries(contents)) {
        const entry = pak.find(name)!;
        expect(Buffer.from(await gather(pak.read(entry))).equals(content)).toBe(true);
        expect(await pak.verify(entry)).toBeUndefined();
        expect(entry.encrypted).toBe(options.key !== undefined);
        expect(entry.mtime).toEqual(version === '1' ? mtime : undefined);
      }
      expect(await pak.verifyDirectory()).toBeUndefined();
      const methods = Object.fromEntries(pak.entries.map(({ name, method }) => [name, method]));
      const packs = options.compress === 'zlib' ? 'zlib' : 'none';
      expect(methods).toMatchObject({
        'Content/noise.bin': 'none',
        'Content/empty.bin': 'none',
        'Content/exact.bin': packs,
        'Content/Deep/Folder/text.txt': packs,
      });
    },
  );
});

test('an encrypted PAK tells nothing without its key', async () => {
  const bytes = await pack(files(), { version: 11, compress: 'zlib', key, encryptIndex: true });
  expect(Buffer.from(bytes).includes('Default.ini')).toBe(false);
  expect(Buffer.from(bytes).includes('[a]')).toBe(false);
  const pak = await openPak(bytesSource(bytes), { keys: [new Uint8Array(32)] });
  expect(pak.locked).toMatchObject({ code: 'E_KEY_MISSING' });
});

test.each([
  [0xffff, 1, true],
  [0x10000, 1, false],
  [1, 0x3f, true],
  [1, 0x40, false],
])('the short form of a record takes %d blocks of method %d: %p', (blockCount, method, isIt) => {
  expect(isEncodable({ ...emptyRecord, blockCount, method })).toBe(isIt);
});

test('holds no large file in memory', async () => {
  const piece = new Uint8Array(1 << 20).map((_, i) => (i * i) >> 7);
  const size = 300 << 20;
  const large: PackFile = {
    name: 'large',
    size,
    async *open() {
      for (let i = 0; i < 300; i++) yield piece;
    },
  };
  let [most, written, writes] = [0, 0, 0];
  const sink = {
    async write(bytes: Uint8Array) {
      written += bytes.length;
      if (writes++ % 32 === 0) most = Math.max(most, aliveBufferBytes());
    },
  };
  const before = aliveBufferBytes();
  const result = await writeUnrealPak([large], sink, { version: 3 });
  expect(written).toBe(result.bytes);
  expect(most - before).toBeLessThan(64 << 20);
});

const onDisk = someOf([11, 9], (version) => version === 11);
test.each(onDisk)('an index of version %s that was made on disk is that which was made in memory', async (version) => {
  const many = Array.from({ length: 60_000 }, (_, i) => packFile(`${i % 50}/${'long '.repeat(24)}${i}`, ''));
  const temporary = scratch(`disk ${version}`);
  const [options, sink] = [{ version, key, encryptIndex: true }, memorySink()];
  await writeUnrealPak(many, sink, { ...options, temporary });
  expect(Buffer.from(sink.bytes()).equals(await pack(many, options))).toBe(true);
  // It was there, and nothing is left in it.
  expect(readdirSync(temporary)).toEqual([]);
  const failing = [...many, { ...packFile('z', 'abc'), size: 4 }];
  const refused = writeUnrealPak(failing, memorySink(), { ...options, temporary });
  await expect(refused).rejects.toMatchObject({ code: 'E_INTEGRITY' });
  expect(readdirSync(temporary)).toEqual([]);
});

describe('refuses', () => {
  test.each<[string, UnrealPackOptions]>([
    ['a version that does not exist', { version: 0 }],
    ['a version that cannot be written', { version: 13 }],
    ['no version', { version: 'new' }],
    ['to compress version 2', { version: 2, compress: 'zlib' }],
    ['to encrypt version 2', { version: 2, key }],
    ['to encrypt the index of version 3', { version: 3, key, encryptIndex: true }],
    ['to encrypt without a key', { version: 11, encryptIndex: true }],
    ['a short key', { version: 11, key: key.subarray(1) }],
    ['a tiny block size', { version: 11, compress: 'zlib', blockSize: 100 }],
    ['a block size with a fraction', { version: 11, compress: 'zlib', blockSize: 4096.5 }],
    ['a GUID that is none', { version: 11, keyGuid: 'xyz' }],
  ])('%s', async (_what, options) => {
    const sink = memorySink();
    await expect(writeUnrealPak(files(), sink, options)).rejects.toMatchObject({
      code: 'E_USAGE',
      hint: expect.stringMatching(/\w/),
    });
    expect(sink.bytes()).toHaveLength(0);
  });

  test.each([
    ['names that differ by case only', [packFile('a/B.txt', '1'), packFile('A/b.txt', '2')], 'E_USAGE'],
    ['a name that steps out', [packFile('a/../../b', '1')], 'E_USAGE'],
    ['a file that became shorter', [{ ...packFile('a', 'abc'), size: 4 }], 'E_INTEGRITY'],
    ['a file that became longer', [{ ...packFile('a', 'abc'), size: 2 }], 'E_INTEGRITY'],
  ])('%s', async (_what, bad, code) => {
    await expect(pack(bad, { version: 11 })).rejects.toMatchObject({ code });
  });

  test('a large file that is another when it is read again', async () => {
    let times = 0;
    const fickle: PackFile = {
      name: 'a',
      size: 8 << 20,
      async *open() {
        yield new Uint8Array(8 << 20).fill(times++);
      },
    };
    await expect(pack([fickle], { version: 3 })).rejects.toMatchObject({ code: 'E_INTEGRITY' });
  });
});

test('GUID and mount point are written', async () => {
  const keyGuid = '00112233-4455-6677-8899-aabbccddeeff';
  const bytes = await pack([packFile('a', 'b')], { version: 11, key, keyGuid, mountPoint: '..\\Game\\Content' });
  const pak = await openPak(bytesSource(bytes), { keys: [key] });
  expect(pak.facts).toMatchObject({ keyGuid: '00112233445566778899aabbccddeeff', mountPoint: '../Game/Content/' });
  expect(pak.find('Game/Content/a')?.name).toBe('a');
});
