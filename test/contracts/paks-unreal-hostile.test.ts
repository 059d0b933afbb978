import { describe, expect, test } from '@jest/globals';
import { type ByteSource, bytesSource } from '../../src/core/byte-source.ts';
import { openPak } from '../../src/paks/index.ts';
import { emptyRecord } from '../../src/paks/unreal/entries/entry-record.ts';
import { RowList } from '../../src/paks/unreal/index/index-rows.ts';
import { exercisePak } from '../support/pak-hostile.ts';
import { gather, sparseSource } from '../support/pak-sources.ts';
import { footer, fstring, i32, i64, legacyPak } from '../support/pak-unreal.ts';

/** A source that refuses to be read in large parts: whoever asks for one has believed a number of the file. */
function frugal(source: ByteSource, most: number): ByteSource {
  return {
    ...source,
    async read(offset, size) {
      if (size > most) throw new Error(`${size} bytes were asked for`);
      return source.read(offset, size);
    },
  };
}

/** The end of a file of this size: an index there, and the footer behind it. */
function ending(fileSize: number, index: Buffer, claimed = index.length): { offset: number; bytes: Uint8Array } {
  const hash = Buffer.alloc(20);
  const end = footer(
    { indexOffset: fileSize - 222 - claimed, indexSize: claimed, indexHash: hash },
    { version: 9, methods: ['Zlib'] },
  );
  return { offset: fileSize - 222 - index.length, bytes: new Uint8Array(Buffer.concat([index, end])) };
}

/** A record of version 9 with one block. */
function record(offset: number, { start, end, size }: { start: number; end: number; size: number }): Buffer {
  const blocks = [i32(1), i64(start), i64(end)];
  return Buffer.concat([
    i64(offset),
    i64(end - start),
    i64(size),
    i32(1),
    Buffer.alloc(20),
    ...blocks,
    Buffer.of(0),
    i32(size),
  ]);
}

describe('numbers of a large file that nobody should believe', () => {
  const fileSize = 8 * 2 ** 30;

  test('an index of 300 MiB', async () => {
    const source = sparseSource(fileSize, [ending(fileSize, Buffer.alloc(0), 300 << 20)]);
    await expect(openPak(frugal(source, 4096))).rejects.toMatchObject({ code: 'E_FORMAT_RANGE' });
  });

  test('a block of a gigabyte for 64 KiB, and one block for a gigabyte', async () => {
    const liars = [
      record(0, { start: 73, end: 2 ** 30, size: 65536 }),
      record(0, { start: 73, end: 2 ** 30, size: 17 << 20 }),
    ];
    for (const liar of liars) {
      const index = Buffer.concat([fstring(''), i32(1), fstring('a'), liar]);
      const source = sparseSource(fileSize, [{ offset: 0, bytes: liar }, ending(fileSize, index)]);
      const pak = await openPak(frugal(source, 1 << 20));
      await expect(gather(pak.read(pak.entries[0]!))).rejects.toMatchObject({
        code: expect.stringMatching(/^E_FORMAT/),
      });
    }
  });

  test('an entry past 4 GiB is read where it is', async () => {
    const content = Buffer.from('far away');
    const at = 5 * 2 ** 30;
    const entry = Buffer.concat([i64(at), i64(8), i64(8), i32(0), Buffer.alloc(20), Buffer.of(0), i32(0)]);
    const index = Buffer.concat([fstring(''), i32(1), fstring('a'), entry]);
    const source = sparseSource(fileSize, [
      { offset: at, bytes: Buffer.concat([entry, content]) },
      ending(fileSize, index),
    ]);
    const pak = await openPak(frugal(source, 4096));
    expect(Buffer.from(await gather(pak.read(pak.entries[0]!))).toString()).toBe('far away');
  });
});

test.each(['offset', 'stored size', 'size'])('an entry whose %s is below 0 or past 2^53', async (field) => {
  const at = ['offset', 'stored size', 'size'].indexOf(field) * 8;
  for (const value of [-1n, -(2n ** 63n), 2n ** 53n, 2n ** 62n]) {
    const entry = Buffer.concat([i64(0), i64(8), i64(8), i32(0), Buffer.alloc(20), Buffer.of(0), i32(0)]);
    entry.writeBigInt64LE(value, at);
    const index = Buffer.concat([fstring(''), i32(1), fstring('a'), entry]);
    const { bytes } = ending(222 + index.length, index);
    await expect(openPak(bytesSource(bytes))).rejects.toMatchObject({ code: 'E_FORMAT_RANGE' });
  }
});

describe('names', () => {
  test('too many together', () => {
    const list = new RowList();
    const name = 'x'.repeat(4000);
    expect(() => {
      for (let i = 0; i < 40_000; i++) list.add(name, emptyRecord);
    }).toThrow(expect.objectContaining({ code: 'E_FORMAT_RANGE' }));
  });

  test.each([
    ['without its NUL', Buffer.concat([i32(3), Buffer.from('abc')])],
    ['longer than the index', i32(60_000)],
    ['of a length below the lowest', i32(-0x80000000)],
    ['of a length above any', i32(0x7fffffff)],
  ])('one %s', async (_what, name) => {
    const index = Buffer.concat([fstring(''), i32(1), name, Buffer.alloc(60)]);
    const { bytes } = ending(222 + index.length, index);
    await expect(openPak(bytesSource(bytes))).rejects.toMatchObject({ code: expect.stringMatching(/^E_FORMAT/) });
  });

  test('in UTF-16', async () => {
    const name = Buffer.concat([i32(-4), Buffer.from('日本\u00e9\0', 'utf16le')]);
    const entry = Buffer.concat([Buffer.alloc(24), i32(0), Buffer.alloc(25)]);
    const index = Buffer.concat([fstring(''), i32(1), name, entry]);
    const { bytes } = ending(222 + index.length, index);
    expect((await openPak(bytesSource(bytes))).entries.map((row) => row.name)).toEqual(['日本é']);
  });
});

test('entries that overlap, lie in the index, or say they start behind themselves', async () => {
  const content = Buffer.from('0123456789');
  const bytes = legacyPak(
    [
      { name: 'a', content },
      { name: 'b', content },
    ],
    { version: 3 },
  );
  const whole = Buffer.from(bytes);
  const at = whole.indexOf(Buffer.concat([fstring('b')])) + 6;
  for (const offset of [0, 1, 30, bytes.length - 60, bytes.length, 2 ** 40]) {
    const changed = bytes.slice();
    changed.set(i64(offset), at);
    const { codes } = await exercisePak(changed, `offset ${offset}`, { ignoreHashes: true });
    if (offset > 0) expect(codes).not.toEqual([]);
  }
});

test('an index without names and without their hashes is refused', async () => {
  const index = Buffer.concat([fstring('../../../'), i32(1), i64(0), Buffer.alloc(4 * 4)]);
  const end = footer(
    { indexOffset: 0, indexSize: index.length, indexHash: Buffer.alloc(20) },
    { version: 11, methods: [] },
  );
  const bytes = new Uint8Array(Buffer.concat([index, end]));
  await expect(openPak(bytesSource(bytes))).rejects.toMatchObject({
    code: 'E_FORMAT',
    message: expect.stringContaining('neither names nor path hashes'),
  });
});
