import { writeFileSync } from 'node:fs';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { bytesSource } from '../../../../src/core/byte-source.ts';
import { fromHex } from '../../../../src/core/bytes.ts';
import { codeOf } from '../../../../src/core/errors.ts';
import { openPak } from '../../../../src/paks/index.ts';
import type { Pak } from '../../../../src/paks/pak.ts';
import { conformancePath, describeConformance } from '../../../support/conformance.ts';
import { lz4Literals } from '../../../support/lz4-literals.ts';
import { fixtureKeys } from '../../../support/pak-fixtures.ts';
import { contentHash, countingSource, gather } from '../../../support/pak-sources.ts';
import { type LegacyRow, legacyPak, unrealPak } from '../../../support/pak-unreal.ts';
import { scratchFolder } from '../../../support/scratch.ts';

const folder = scratchFolder();

const text = Buffer.from('the quick brown fox jumps over the lazy dog, again and again; '.repeat(40));
const zstdFrame = Buffer.from(
  fromHex(
    '28b52ffd00582d0200740374686520717569636b2062726f776e20666f78206a756d7073206f76657220746865206c617a7920646f672c20616761' +
      '696e20616e643b03006b098207a1c4b50e050a',
  ),
);

const open = (bytes: Uint8Array): Promise<Pak> => openPak(bytesSource(bytes));
const legacy = (row: Partial<LegacyRow>, version = 4): Promise<Pak> => {
  return open(legacyPak([{ name: 'a', content: text, ...row }], { version }));
};
const first = async (pak: Pak): Promise<Uint8Array> => gather(pak.read(pak.entries[0]!));

/** Code of what reading the first entry throws. */
async function codeOfRead(pak: Pak): Promise<string | undefined> {
  try {
    await first(pak);
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}

describe('methods by name', () => {
  test.each([
    ['Zlib', Buffer.from(deflateSync(text))],
    ['zLIB', Buffer.from(deflateSync(text))],
    ['Gzip', Buffer.from(gzipSync(text))],
    ['Zstd', zstdFrame],
    ['LZ4', Buffer.from(lz4Literals(text))],
    ['Brotli', Buffer.from(brotliCompressSync(text))],
  ])('%s', async (name, block) => {
    const pak = await open(
      unrealPak([{ name: 'a', content: text, blocks: [block], method: 2 }], { version: 11, methods: ['Oodle', name] }),
    );
    expect(pak.entries[0]).toMatchObject({ method: name.toLowerCase(), size: text.length, storedSize: block.length });
    expect(Buffer.from(await first(pak)).equals(text)).toBe(true);
    const damaged = block.subarray(0, -1);
    const broken = await open(
      unrealPak([{ name: 'a', content: text, blocks: [damaged], method: 2 }], { version: 11, methods: ['', name] }),
    );
    expect(await codeOfRead(broken)).toMatch(/^E_FORMAT/);
  });

  test.each([
    [['LZO'], 'lzo'],
    [['', 'Zlib'], 'unknown-1'],
    [[], 'unknown-1'],
  ])('one that cannot be decoded is listed, verified and refused by name: %j', async (methods, label) => {
    const pak = await open(
      unrealPak([{ name: 'a', content: text, blocks: [Buffer.from('????')], method: 1 }], { version: 11, methods }),
    );
    expect(pak.entries[0]!.method).toBe(label);
    expect(await pak.verify(pak.entries[0]!)).toBeUndefined();
    await expect(first(pak)).rejects.toMatchObject({ code: 'E_UNSUPPORTED', message: expect.stringContaining(label) });
  });
});

describe('methods by bits, before version 8', () => {
  test.each([
    ['zlib', 1, Buffer.from(deflateSync(text))],
    ['zlib', 0x11, Buffer.from(deflateSync(text))],
    ['zlib', 0x21, Buffer.from(deflateSync(text))],
    ['gzip', 2, Buffer.from(gzipSync(text))],
    ['custom', 4, Buffer.from(lz4Literals(text))],
  ])('%s (%d)', async (label, method, block) => {
    for (const version of [3, 4, 5, 6, 7]) {
      const pak = await legacy({ blocks: [block], method }, version);
      expect(pak.entries[0]!.method).toBe(label);
      expect(Buffer.from(await first(pak)).equals(text)).toBe(true);
      expect(await pak.verify(pak.entries[0]!)).toBeUndefined();
    }
  });

  test('versions 1 and 2 have no blocks: the data is one stream, however large', async () => {
    const large = Buffer.alloc(20 << 20, 'so large that it is not held in memory ');
    for (const version of [1, 2]) {
      for (const content of [text, large]) {
        const pak = await legacy({ content, blocks: [deflateSync(content)], method: 1 }, version);
        let size = 0;
        for await (const piece of pak.read(pak.entries[0]!)) {
          expect(piece.length).toBeLessThanOrEqual(1 << 20);
          expect(piece[0]).toBe(content[size]);
          size += piece.length;
        }
        expect(size).toBe(content.length);
        const part = await gather(pak.readRange!(pak.entries[0]!, content.length - 50, 40));
        expect(Buffer.from(part).equals(content.subarray(-50, -10))).toBe(true);
      }
    }
  });
});

describeConformance('Oodle', () => {
  const oodlePak = conformancePath('pak/unreal/cue4parse/CUE4ParseFixtures-Legacy-Tagged-OodleEncrypted.pak');
  const plainPak = conformancePath('pak/unreal/cue4parse/CUE4ParseFixtures-Legacy-Tagged-Uncompressed.pak');

  test('entries are listed and verified; they read as the same files do elsewhere, or are refused by name', async () => {
    const isInstalled = await import('ooz-wasm' as string).then(
      () => true,
      () => false,
    );
    const pak = await openPak(oodlePak, { keys: fixtureKeys() });
    const plain = await openPak(plainPak);
    const entries = pak.entries.filter(({ method }) => method === 'oodle');
    expect(entries).toHaveLength(10);
    for (const entry of entries) {
      expect(await pak.verify(entry)).toBeUndefined();
      if (isInstalled) expect(await contentHash(pak, entry)).toBe(await contentHash(plain, plain.find(entry.name)!));
      else {
        await expect(contentHash(pak, entry)).rejects.toMatchObject({
          code: 'E_UNSUPPORTED',
          message: expect.stringMatching(/Oodle/),
          hint: expect.stringMatching(/ooz-wasm.*GPL/),
        });
      }
    }
    await pak.close();
    await plain.close();
  });
});

describe('times, version 1', () => {
  test.each([
    ['ticks since the year 1', 636_000_000_000_000_000n, new Date('2016-05-28T02:40:00Z')],
    ['seconds since 1970', 1_500_000_000n, new Date(1_500_000_000_000)],
    ['none', 0n, undefined],
    ['nonsense', 0x7fff_ffff_ffff_ffffn, undefined],
  ])('%s', async (_what, time, date) => {
    const mtime = (await legacy({ time }, 1)).entries[0]!.mtime;
    if (time > 2n ** 62n) expect(mtime === undefined || mtime.getFullYear() > 9999).toBe(true);
    else expect(mtime).toEqual(date);
  });
});

describe('blocks that lie', () => {
  const block = deflateSync(text);
  test.each<[string, Partial<LegacyRow>, string]>([
    ['that end before they start', { ranges: [[200, 100]] }, 'E_FORMAT_RANGE'],
    ['past the end of the file', { ranges: [[100_000, 100_100]] }, 'E_FORMAT_RANGE'],
    ['at negative offsets', { ranges: [[-5n, 100]] }, 'E_FORMAT_RANGE'],
    ['at 2^63', { ranges: [[1n << 63n, (1n << 63n) + 10n]] }, 'E_FORMAT_RANGE'],
    [
      'of no use: too many',
      {
        ranges: [
          [73, 73 + block.length],
          [73, 73 + block.length],
        ],
        blockSize: text.length,
      },
      'E_FORMAT_RANGE',
    ],
    [
      'that are too few',
      { blockSize: 64, blocks: [deflateSync(text.subarray(0, 64)), deflateSync(text.subarray(64, 128))] },
      'E_FORMAT_TRUNCATED',
    ],
    ['that are not there', { ranges: [] }, 'E_FORMAT_TRUNCATED'],
    ['with a block size of 0', { blockSize: 0, blocks: [block, block] }, 'E_FORMAT_RANGE'],
    ['that promise a gigabyte', { size: 1 << 30 }, 'E_FORMAT_TRUNCATED'],
    ['that promise 2^52 bytes', { size: 2 ** 52 }, 'E_FORMAT_TRUNCATED'],
    ['that promise more than they hold', { size: text.length + 1 }, 'E_FORMAT_TRUNCATED'],
    ['that hold more than they promise', { size: text.length - 1 }, 'E_FORMAT_RANGE'],
  ])('%s', async (_what, row, code) => {
    const pak = await legacy({ blocks: [block], method: 1, ...row });
    const before = process.memoryUsage().arrayBuffers;
    expect(await codeOfRead(pak)).toBe(code);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 << 20);
  });

  test('thousands of blocks that are all the same one give no more than was promised', async () => {
    const zeros = deflateSync(Buffer.alloc(65536));
    const count = 2000;
    const ranges = Array.from({ length: count }, (): [number, number] => [
      57 + count * 16,
      57 + count * 16 + zeros.length,
    ]);
    const pak = await legacy({ blocks: [zeros], method: 1, ranges, blockSize: 65536, size: count * 65536 }, 5);
    let size = 0;
    for await (const piece of pak.read(pak.entries[0]!)) size += piece.length;
    expect(size).toBe(count * 65536);
  });

  test('an entry that is not compressed but has two sizes', async () => {
    const pak = await legacy({ size: 10 });
    expect(pak.entries[0]!.note).toMatch(/cannot be read/);
    expect(await codeOfRead(pak)).toBe('E_FORMAT_RANGE');
    expect(await pak.verify(pak.entries[0]!)).toMatchObject({ code: 'E_FORMAT_RANGE' });
  });

  test('counts that cannot be are refused before anything is made of them', async () => {
    const bytes = legacyPak([{ name: 'a', content: text, blocks: [block], method: 1 }], { version: 4 });
    for (const at of [legacyCountAt(bytes), legacyCountAt(bytes) + 4]) {
      const changed = bytes.slice();
      changed.fill(0xff, at, at + 4);
      await expect(openPak(bytesSource(changed), { ignoreHashes: true })).rejects.toMatchObject({
        code: expect.stringMatching(/^E_FORMAT/),
      });
    }
  });
});

/** Offset of the count of entries: behind the mount point at the start of the index. */
function legacyCountAt(bytes: Uint8Array): number {
  return Buffer.from(bytes).lastIndexOf('../../../\0') + 10;
}

describe('what is read', () => {
  test('a large entry comes in pieces, its neighbours untouched', async () => {
    const content = Buffer.alloc(3 << 20, 'abcdefghijklmnop');
    const bytes = legacyPak(
      [
        { name: 'before', content },
        { name: 'a', content },
        { name: 'after', content },
      ],
      { version: 3 },
    );
    const source = countingSource(bytes);
    const pak = await openPak(source);
    source.reset();
    const sizes: number[] = [];
    for await (const piece of pak.read(pak.find('a')!)) sizes.push(piece.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1 << 20);
    expect(source.bytes).toBe(content.length + 53);
    source.reset();
    expect(await pak.verify(pak.find('a')!)).toBeUndefined();
    expect(source.bytes).toBe(content.length + 53);
  });

  test('verifying and reading many entries side by side mixes nothing up', async () => {
    const rows = Array.from({ length: 40 }, (_, i): LegacyRow => {
      const content = Buffer.alloc(50_000 + i, `file ${i} `);
      return {
        name: `f${i}`,
        content,
        blocks: [deflateSync(content.subarray(0, 30_000)), deflateSync(content.subarray(30_000))],
        method: 1,
        blockSize: 30_000,
      };
    });
    writeFileSync(folder('many.pak'), legacyPak(rows, { version: 3 }));
    const pak = await openPak(folder('many.pak'));
    const all = await Promise.all(
      pak.entries.map(async (entry) => [await pak.verify(entry), await gather(pak.read(entry))] as const),
    );
    for (const [i, [problem, bytes]] of all.entries()) {
      expect(problem).toBeUndefined();
      expect(Buffer.from(bytes).equals(rows[i]!.content)).toBe(true);
    }
    await pak.close();
  });
});
