import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { ByteSource } from '../../src/core/byte-source.ts';
import { openPak } from '../../src/paks/index.ts';
import { gather, sparseSource } from '../support/pak-sources.ts';
import { fstring, i32, i64 } from '../support/pak-unreal.ts';

/* What one file of a PAK that no memory could hold costs to read: its own bytes, and little more. */

const GiB = 2 ** 30;
const content = Buffer.alloc(100_000, 'a file in the middle, ');
const sha1 = (bytes: Uint8Array): Buffer => createHash('sha1').update(bytes).digest();

/** A source that knows how many bytes were read of it. */
function counted(source: ByteSource) {
  const count = { bytes: 0 };
  const read: ByteSource['read'] = (offset, size) => {
    count.bytes += size;
    return source.read(offset, size);
  };
  return { count, source: { ...source, read } };
}

/** A PAK of Unreal's version 3 with 40 GB: one file of 100 KB, and one of 30 GB that is all zeros. */
function unrealSource(): ByteSource {
  const record = (at: number, size: number, hash: Buffer) =>
    Buffer.concat([i64(at), i64(size), i64(size), i32(0), hash, Buffer.alloc(5)]);
  const [small, large] = [20 * GiB, 1 * GiB];
  const hash = sha1(content);
  const rows = [fstring('small.bin'), record(small, content.length, hash), fstring('large.bin')];
  const index = Buffer.concat([fstring('../../../'), i32(2), ...rows, record(large, 18 * GiB, hash)]);
  const at = 40 * GiB;
  const footer = Buffer.concat([i32(0x5a6f12e1), i32(3), i64(at), i64(index.length), sha1(index)]);
  return sparseSource(at + index.length + footer.length, [
    { offset: small, bytes: Buffer.concat([record(0, content.length, hash), content]) },
    { offset: large, bytes: record(0, 18 * GiB, hash) },
    { offset: at, bytes: Buffer.concat([index, footer]) },
  ]);
}

/** A PAK of Quake with all that 32 bits can tell. */
function quakeSource(): ByteSource {
  const row = (name: string, at: number, size: number) => {
    const bytes = Buffer.alloc(64);
    bytes.write(name);
    bytes.writeUInt32LE(at, 56);
    bytes.writeUInt32LE(size, 60);
    return bytes;
  };
  const at = 4 * GiB - 4096;
  const header = Buffer.from('PACK________');
  header.writeUInt32LE(at, 4);
  header.writeUInt32LE(128, 8);
  const directory = Buffer.concat([row('small.bin', 3 * GiB, content.length), row('large.bin', 12, 2 * GiB)]);
  return sparseSource(at + directory.length, [
    { offset: 0, bytes: header },
    { offset: 3 * GiB, bytes: content },
    { offset: at, bytes: directory },
  ]);
}

test.each([
  ['Unreal, 40 GB', unrealSource],
  ['Quake, 4 GB', quakeSource],
])('one file of a PAK costs its own bytes and little more: %s', async (_name, make) => {
  const { count, source } = counted(make());
  const pak = await openPak(source);
  expect(Buffer.from(await gather(pak.read(pak.find('small.bin')!))).equals(content)).toBe(true);
  expect(count.bytes).toBeLessThan(content.length + 0x10_0000);
  count.bytes = 0;
  expect(await gather(pak.readRange!(pak.find('large.bin')!, GiB + 1, 1000))).toHaveLength(1000);
  expect(count.bytes).toBeLessThan(1000 + 0x10_0000);
});
