import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../../src/core/byte-source.ts';
import { openPak, type PakOptions } from '../../../../src/paks/index.ts';
import type { Pak } from '../../../../src/paks/pak.ts';
import type { UnrealEntry } from '../../../../src/paks/unreal/entries/unreal-entry.ts';
import { writeUnrealPak } from '../../../../src/paks/unreal/write/write.ts';
import { conformanceBytes, describeConformance } from '../../../support/conformance.ts';
import { lz4Literals } from '../../../support/lz4-literals.ts';
import { contentHash, gather, packed, packFile } from '../../../support/pak-sources.ts';
import { frozenPak, legacyPak, type UnrealRow, unrealPak } from '../../../support/pak-unreal.ts';

const key = new Uint8Array(32).map((_, i) => i + 1);
const text = Buffer.from('a text that is longer than a block of AES, '.repeat(30));
const rows = ['before', 'hit', 'after'].map((name) => ({ name, content: Buffer.concat([Buffer.from(name), text]) }));
const open = (bytes: Uint8Array, options: PakOptions = {}): Promise<Pak> => openPak(bytesSource(bytes), options);
const damaged = { code: 'E_INTEGRITY', message: expect.stringContaining('hit') };

/** The PAK with zeros in place of part of an entry, record and data counted from the start of the record. */
async function withHole(bytes: Uint8Array, from = 0, name = 'hit'): Promise<Uint8Array> {
  const pak = await open(bytes);
  const { record } = pak.entries.find((entry) => entry.name === name) as UnrealEntry;
  return bytes.slice().fill(0, record.offset + from, record.offset + record.headerSize + record.storedSize);
}

async function expectRefused(pak: Pak): Promise<void> {
  const entry = pak.find('hit')!;
  await expect(gather(pak.readRange!(entry, 3, 20))).rejects.toMatchObject(damaged);
  await expect(gather(pak.read(entry))).rejects.toMatchObject(damaged);
  // A second time, too: what was not found right is not remembered as right.
  await expect(gather(pak.readRange!(entry, 3, 20))).rejects.toMatchObject(damaged);
  expect(await pak.verify(entry)).toMatchObject(damaged);
  for (const name of ['before', 'after']) {
    expect(Buffer.from(await gather(pak.read(pak.find(name)!))).toString()).toBe(`${name}${text}`);
    expect(await pak.verify(pak.find(name)!)).toBeUndefined();
  }
}

describe('a hole over an entry and its own record is no content', () => {
  const shapes: [string, () => Uint8Array][] = [
    ...[1, 2, 3, 4, 5, 6, 7].map((version): [string, () => Uint8Array] => [
      `version ${version}`,
      () => legacyPak(rows, { version }),
    ]),
    ['version 9, frozen', () => frozenPak(rows, '../../../')],
    ...[10, 11, 12, 13, 14, 15].flatMap((version): [string, () => Uint8Array][] => [
      [`version ${version}, encoded`, () => unrealPak(rows, { version })],
      [
        `version ${version}, plain`,
        () =>
          unrealPak(
            rows.map((row) => ({ ...row, isPlain: true })),
            { version },
          ),
      ],
    ]),
  ];

  test.each(shapes)('%s', async (_name, make) => expectRefused(await open(await withHole(make()))));

  test.each([
    ['zlib', deflateSync],
    ['lz4', lz4Literals],
  ])('compressed: %s', async (method, compress) => {
    const packedRows = rows.map(
      (row): UnrealRow => ({ ...row, blocks: [Buffer.from(compress(row.content))], method: 1 }),
    );
    await expectRefused(await open(await withHole(unrealPak(packedRows, { version: 11, methods: [method] }))));
  });

  test('encrypted, as ECB and as CTR', async () => {
    for (const shape of [{ version: 11 }, { version: 15, isCtr: true }]) {
      const bytes = unrealPak(rows, { ...shape, key, encryptData: true });
      await expectRefused(await open(await withHole(bytes), { keys: [key] }));
    }
  });

  test('hashes that are ignored let it through', async () => {
    const pak = await open(await withHole(unrealPak(rows, { version: 11 })), { ignoreHashes: true });
    const entry = pak.find('hit')!;
    expect(await gather(pak.read(entry))).toEqual(new Uint8Array(entry.size));
    expect(await gather(pak.readRange!(entry, 3, 20))).toEqual(new Uint8Array(20));
  });
});

/** Offset of the SHA-1 in a record. */
const hashAt = 28;

test('a hole that leaves the sizes in the record takes the SHA-1: others have one, so it was lost', async () => {
  for (const version of [10, 11]) {
    const pak = await open(await withHole(unrealPak(rows, { version }), hashAt));
    await expect(gather(pak.read(pak.find('hit')!))).rejects.toMatchObject(damaged);
    expect(await pak.verify(pak.find('hit')!)).toMatchObject(damaged);
  }
});

test('a PAK without any hash is read, and says that its entries have no proof', async () => {
  const bytes = unrealPak(rows, { version: 11 });
  for (const { record } of (await open(bytes)).entries as readonly UnrealEntry[]) {
    bytes.fill(0, record.offset + hashAt, record.offset + hashAt + 20);
  }
  const pak = await open(bytes);
  for (const entry of pak.entries) {
    expect(Buffer.from(await gather(pak.read(entry))).toString()).toBe(`${entry.name}${text}`);
    expect([await pak.verify(entry), await pak.hasProof(entry)]).toEqual([undefined, false]);
  }
});

test('what fills the last block of an encrypted entry has no hash: changed, its end has no proof any more', async () => {
  const files = [packFile('a.txt', 'twenty-six bytes of content'.slice(0, 26))];
  for (const version of [5, 7, '8B', 9, 10, 11]) {
    const bytes = await packed((sink) => writeUnrealPak(files, sink, { version, key, encryptIndex: true }));
    const pak = await open(bytes, { keys: [key] });
    const [entry] = pak.entries as readonly UnrealEntry[];
    expect([version, await pak.hasProof(entry!)]).toEqual([version, true]);
    const right = await contentHash(pak, entry!);
    // Of 32 bytes the last 6 fill the block.
    bytes[entry!.record.offset + 53 + 30]! ^= 1;
    const changed = await open(bytes, { keys: [key] });
    const [other] = changed.entries;
    expect(await contentHash(changed, other!)).not.toBe(right);
    expect([version, await changed.hasProof(other!)]).toEqual([version, false]);
  }
});

test('an empty entry needs no hash, and every other one of our own has one', async () => {
  for (const version of [1, 2, 3, 7, '8A', 8, 9, 10, 11]) {
    const files = [packFile('empty', ''), packFile('text', text)];
    const pak = await open(await packed((sink) => writeUnrealPak(files, sink, { version })));
    for (const entry of pak.entries) {
      await gather(pak.read(entry));
      expect([version, await pak.verify(entry), await pak.hasProof(entry)]).toEqual([version, undefined, true]);
    }
  }
});

describe('decoding proves what a hash over stored bytes cannot', () => {
  const block = deflateSync(text);
  const half = { blocks: [deflateSync(text.subarray(0, 600)), deflateSync(text.subarray(600))], blockSize: 600 };

  test.each<[string, Partial<UnrealRow>]>([
    ['a size that is too large', { blocks: [block], content: Buffer.concat([text, text]) }],
    ['a size that is too small', { blocks: [block], content: text.subarray(0, -1) }],
    ['a block that inflates to too much', { ...half, blockSize: 500 }],
    ['a block that inflates to too little', { ...half, blockSize: 700 }],
    ['bytes that are no zlib', { blocks: [Buffer.alloc(40, '?')] }],
  ])('%s', async (_name, row) => {
    const bytes = unrealPak([{ name: 'hit', content: text, method: 1, ...row }], { version: 11, methods: ['Zlib'] });
    const pak = await open(bytes);
    const [entry] = pak.entries;
    expect(await pak.verify(entry!)).toBeUndefined();
    expect(await pak.verify(entry!, { decode: true })).toMatchObject({ code: expect.stringMatching(/^E_FORMAT/) });
  });

  test('needs the key of what is compressed and encrypted, and no other', async () => {
    const shape = { version: 11, methods: ['Zlib'], key, encryptData: true };
    const bytes = unrealPak([{ name: 'zipped', content: text, blocks: [block], method: 1 }, ...rows], shape);
    const without = await open(bytes);
    const problems = await Promise.all(without.entries.map((entry) => without.verify(entry, { decode: true })));
    expect(problems.map((problem) => problem?.code)).toEqual(['E_KEY_MISSING', undefined, undefined, undefined]);
    const pak = await open(bytes, { keys: [key] });
    for (const entry of pak.entries) expect(await pak.verify(entry, { decode: true })).toBeUndefined();
  });
});

describeConformance('real PAKs', () => {
  test.each(['repak/pack_v5.pak', 'repak/pack_v8a.pak', 'repak/pack_v9.pak', 'repak/pack_v11.pak'])(
    '%s: a hole over an entry is told when it is read, and leaves the others alone',
    async (file) => {
      const bytes = conformanceBytes('pak', 'unreal', ...file.split('/'));
      const { entries } = await open(bytes);
      for (const { name, size } of entries) {
        const pak = await open(await withHole(bytes, 0, name));
        if (size > 0) await expect(contentHash(pak, pak.find(name)!)).rejects.toMatchObject({ code: 'E_INTEGRITY' });
        for (const other of pak.entries.filter((entry) => entry.name !== name)) await contentHash(pak, other);
      }
    },
  );
});
