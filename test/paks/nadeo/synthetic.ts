import { deflateExact } from '../../../src/codecs/compression/deflate-exact.ts';
import { type ByteSource, bytesSource } from '../../../src/core/byte-source.ts';
import { concatBytes, fromHex } from '../../../src/core/bytes.ts';
import { md5Hex } from '../../../src/core/hash.ts';
import { ByteWriter } from '../../../src/core/writer.ts';
import { packCipherKey } from '../../../src/paks/nadeo/entries/cipher-stream.ts';
import type { KnownMix } from '../../../src/paks/nadeo/entries/entry-reader.ts';
import { SealedRegion } from '../../../src/paks/nadeo/entries/sealed-region.ts';
import { type EntryMethod, steppedPieces } from '../../../src/paks/nadeo/gbx/gbx-entry.ts';
import { encodePrivateHeader } from '../../../src/paks/nadeo/header/private-header.ts';
import { emptyPublicHeader, encodePublicHeader } from '../../../src/paks/nadeo/header/public-header.ts';
import { keyFromBase } from '../../../src/paks/nadeo/keys/keys.ts';
import { type NadeoWriteOptions, writeNadeoPak } from '../../../src/paks/nadeo/write/write.ts';
import type { NadeoPackFile } from '../../../src/paks/nadeo/write/write-files.ts';
import { lz4Literals } from '../../support/lz4-literals.ts';

/** The base key that all packs of these tests have. */
export const baseKey = fromHex('00112233445566778899aabbccddeeff');

/** Everything that an iterable of pieces gives. */
export async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return concatBytes(parts);
}

/** A short text that is the same for the same bytes: comparing it is much faster than comparing arrays in a matcher. */
export function digestOf(bytes: Uint8Array): string {
  return `${bytes.length} bytes, ${md5Hex(bytes)}`;
}

/** Bytes that zlib can make smaller, but not by much; no accidental node in them. */
export function noise(size: number, seed = 7): Uint8Array {
  let state = seed;
  return Uint8Array.from({ length: size }, () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return 0x40 | ((state >> 16) & 15);
  });
}

export interface GbxParts {
  classId: number;
  /** Bytes between the parts of the body. */
  filler?: number;
  inline?: readonly number[];
  userData?: Uint8Array;
  externals?: readonly string[];
  /** Put in front of the first inline node. */
  chunk?: Uint8Array;
  format?: string;
}

/** A GBX file of version 6 with inline nodes, each followed by some bytes and the end mark. */
export function gbxFile(parts: GbxParts): Uint8Array {
  const {
    classId,
    filler = 600,
    inline = [],
    userData = new Uint8Array(0),
    externals = [],
    chunk,
    format = 'BUUR',
  } = parts;
  const writer = new ByteWriter().text('GBX').u16le(6).text(format).u32le(classId);
  writer
    .u32le(userData.length)
    .raw(userData)
    .u32le(1 + inline.length + externals.length)
    .u32le(externals.length);
  if (externals.length > 0) writer.u32le(1).u32le(0);
  for (const [i, name] of externals.entries()) {
    writer
      .u32le(1)
      .u32le(name.length)
      .text(name)
      .u32le(inline.length + 1 + i)
      .u32le(0)
      .u32le(0);
  }
  writer.raw(noise(filler));
  if (chunk !== undefined) writer.raw(chunk);
  for (const [i, inlineClass] of inline.entries()) {
    writer
      .u32le(i + 1)
      .u32le(inlineClass)
      .raw(noise(filler, i + 11))
      .u32le(0xfacade01);
  }
  return writer.u32le(0xfacade01).bytes();
}

/** A file for the packer. */
export function packFile(
  name: string,
  content: Uint8Array | string,
  extra: Partial<NadeoPackFile> = {},
): NadeoPackFile {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return {
    name,
    size: bytes.length,
    async *open() {
      yield bytes;
    },
    ...extra,
  };
}

/** The bytes of a pack that our writer makes. */
export async function packBytes(files: readonly NadeoPackFile[], options: NadeoWriteOptions): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const result = await writeNadeoPak(files, { write: async (bytes) => void parts.push(bytes.slice()) }, options);
  const bytes = concatBytes(parts);
  if (bytes.length !== result.bytes) throw new Error('the packer is wrong about the size');
  return bytes;
}

/** LZ4 blocks as version 18 has them, made of literals only. */
export function lz4Stream(content: Uint8Array): Uint8Array {
  const writer = new ByteWriter();
  for (let at = 0; at < content.length; at += 4096) {
    const block = lz4Literals(content.subarray(at, at + 4096));
    writer.u16le(block.length).raw(block);
  }
  return writer.bytes();
}

export interface MixedPack {
  version: number;
  content: Uint8Array;
  method: EntryMethod;
  mixes: readonly KnownMix[];
  name?: string;
  flags?: bigint;
  checksum?: Uint8Array;
}

/**
 * A pack with a plain header and one encrypted file, into which was mixed just what is said: what the game would have
 * mixed.
 */
export async function packWithMixes(parts: MixedPack): Promise<Uint8Array> {
  const { version, content, method, mixes, name = 'Some.Thing.Gbx', flags = 0n, checksum = new Uint8Array(16) } = parts;
  const stored = {
    none: () => content,
    zlib: () => deflateExact(content, { level: 9 }),
    lz4: () => lz4Stream(content),
  }[method]();
  const key = packCipherKey(keyFromBase(baseKey), version);
  const region = new SealedRegion(stored, { key, iv: fromHex('0102030405060708'), version });
  let size = 0;
  const waiting = [...mixes];
  for await (const piece of steppedPieces(region, { method, size: content.length, dictionary: undefined })) {
    size += piece.length;
    while (waiting.length > 0 && waiting[0]!.offset <= size) region.mix(waiting.shift()!.bytes);
  }
  const data = region.bytes();
  const compression = method === 'none' ? 0n : 4n;
  const file = {
    folder: -1,
    name,
    unknown: 0xffffffff,
    size: content.length,
    compressedSize: stored.length,
    offset: 0,
    classId: 0,
    slotSize: data.length,
    checksum,
    flags: flags | compression,
  };
  const headerSize = 0x1000;
  const start = encodePublicHeader({ ...emptyPublicHeader(version), headerSize });
  const fields = {
    metadataOffset: headerSize + data.length,
    dataOffset: headerSize,
    metadataSize: 0,
    metadataStoredSize: 0,
    metadataMd5: undefined,
    fileSize: headerSize + data.length,
    unused: new Uint8Array(16),
    author: undefined,
    flags: 0,
    folders: [],
    files: [file],
  };
  const header = concatBytes([start, encodePrivateHeader(fields, version, new Uint8Array(0))]);
  const pack = new Uint8Array(headerSize + data.length);
  pack.set(header);
  pack.set(data, headerSize);
  return pack;
}

/** A source that counts the bytes that are read of it. */
export function countingSource(bytes: Uint8Array, name = 'memory'): ByteSource & { readBytes: number } {
  const source = bytesSource(bytes, name);
  return {
    ...source,
    readBytes: 0,
    async read(offset, size) {
      this.readBytes += size;
      return source.read(offset, size);
    },
  };
}
