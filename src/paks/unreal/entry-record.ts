/*
 * What an Unreal PAK knows of an entry. The whole record stands in the index of versions 1 to 9 and, with offset 0, in
 * front of the data of every entry in every version. Little-endian.
 *
 *   offset         i64  of the record in front of the data; 0 in that record itself
 *   stored size    i64  of a compressed entry with its padding, of any other without
 *   size           i64
 *   method         u32  u8 in version 8A. Below 8 bits: 1 zlib, 2 gzip, 4 custom, 0x10 and 0x20 hints;
 *                       from 8 on 0 for none, otherwise the number of a name in the footer, from 1
 *   time           i64  version 1 only
 *   SHA-1          20   over the stored bytes as they lie in the file, without the padding of an uncompressed entry
 *   from version 3:
 *   block count    u32  only when compressed
 *   blocks              each: start i64, end i64; from the start of the file, from version 5 on from the entry's offset
 *   flags          u8   1 encrypted, 2 deleted
 *   block size     u32  decoded size of a block but the last
 *
 * Each block is compressed for itself. In an encrypted entry each block is padded to 16; its end is without the padding.
 * (u4pak's README for versions up to 4 and 7; checked on real files from version 5 to 12.)
 */
import { alignToBlock } from '../../codecs/aes.ts';
import { formatError } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import type { ByteWriter } from '../../core/writer.ts';

const blockRecordSize = 16;
const flagEncrypted = 1;
const flagDeleted = 2;

/** What of the version matters for a record. */
export interface RecordFormat {
  readonly version: number;
  /** True in version 8A. */
  readonly hasByteMethod: boolean;
}

/** A decoded record. What is rarely asked for stays in the bytes it was decoded from: an index has many thousands of rows. */
export interface EntryRecord {
  offset: number;
  storedSize: number;
  size: number;
  /** As stored: see above. */
  method: number;
  /** Version 1: ticks of 100 ns since the year 1, or seconds since 1970 by a tool that did not know better. */
  time: bigint | undefined;
  encrypted: boolean;
  deleted: boolean;
  blockSize: number;
  /** 0 for an entry that is not compressed. */
  blockCount: number;
  /** Bytes of the record in front of the data. */
  headerSize: number;
  /** Where the rest is; each offset is -1 for what is not there. */
  bytes: Uint8Array;
  /** 20 bytes; not there in the index of version 10 and above. */
  sha1Offset: number;
  /** A row for each block; not there when a single block has the whole data. */
  blocksOffset: number;
  /** Bytes of such a row: 16 for start and end, 4 for the size without padding. */
  blockStride: number;
  /** 12 bytes; version 15 with AES-CTR. */
  ivOffset: number;
}

/** The record of a name with nothing behind it. */
export const emptyRecord: EntryRecord = {
  offset: 0,
  storedSize: 0,
  size: 0,
  method: 0,
  time: undefined,
  encrypted: false,
  deleted: false,
  blockSize: 0,
  blockCount: 0,
  headerSize: 0,
  bytes: new Uint8Array(0),
  sha1Offset: -1,
  blocksOffset: -1,
  blockStride: blockRecordSize,
  ivOffset: -1,
};

/** The SHA-1 of a record, where it has one. */
export function sha1Of({ bytes, sha1Offset }: EntryRecord): Uint8Array | undefined {
  return sha1Offset < 0 ? undefined : bytes.subarray(sha1Offset, sha1Offset + 20);
}

/** The IV of a record, where it has one. */
export function ivOf({ bytes, ivOffset }: EntryRecord): Uint8Array | undefined {
  return ivOffset < 0 ? undefined : bytes.subarray(ivOffset, ivOffset + 12);
}

/** Bytes of the stored form of one block, in the file. */
export interface BlockRange {
  start: number;
  /** Without padding. */
  end: number;
}

/** The least that a record takes. */
export function minRecordSize({ version, hasByteMethod }: RecordFormat): number {
  const base = version === 1 ? 56 : version === 2 ? 48 : 53;
  return hasByteMethod ? base - 3 : base;
}

/** Bytes of a record with so many blocks; undefined for an entry that is not compressed. */
export function recordSize(format: RecordFormat, blockCount: number | undefined): number {
  const blocks = blockCount === undefined || format.version < 3 ? 0 : 4 + blockCount * blockRecordSize;
  return minRecordSize(format) + blocks;
}

/** Reads a record. Throws E_FORMAT_RANGE for numbers below 0 or past 2^53, E_FORMAT_TRUNCATED. */
export function readEntryRecord(reader: ByteReader, { version, hasByteMethod }: RecordFormat): EntryRecord {
  const start = reader.pos;
  const offset = readSize(reader);
  const storedSize = readSize(reader);
  const size = readSize(reader);
  const method = hasByteMethod ? reader.u8() : reader.u32le();
  const time = version === 1 ? reader.u64leBig() : undefined;
  const sha1Offset = reader.pos;
  reader.skip(20);
  const isLong = version >= 3;
  const hasBlocks = isLong && method !== 0;
  const blockCount = hasBlocks ? reader.count(reader.u32le(), blockRecordSize) : method === 0 ? 0 : 1;
  const blocksOffset = hasBlocks ? reader.pos : -1;
  if (hasBlocks) reader.skip(blockCount * blockRecordSize);
  const flags = isLong ? reader.u8() : 0;
  const blockSize = isLong ? reader.u32le() : 0;
  return {
    offset,
    storedSize,
    size,
    method,
    time,
    encrypted: (flags & flagEncrypted) !== 0,
    deleted: (flags & flagDeleted) !== 0,
    blockSize,
    blockCount,
    headerSize: reader.pos - start,
    bytes: reader.bytes,
    sha1Offset,
    blocksOffset,
    blockStride: blockRecordSize,
    ivOffset: -1,
  };
}

/** A number of 64 bits; two halves are several times as fast as a bigint. Throws E_FORMAT_RANGE past 2^53. */
export function readSize(reader: ByteReader): number {
  const low = reader.u32le();
  const high = reader.u32le();
  if (high <= 0x1fffff) return high * 0x1_0000_0000 + low;
  throw formatError('E_FORMAT_RANGE', reader.what, 'a number below 0 or past 2^53', { offset: reader.pos - 8 });
}

/** The mirror of {@link readEntryRecord}, for records that have a SHA-1 and whole blocks. */
export function writeEntryRecord(writer: ByteWriter, record: EntryRecord, format: RecordFormat): void {
  const { bytes, blocksOffset, blockCount } = record;
  writer.u64le(record.offset).u64le(record.storedSize).u64le(record.size);
  if (format.hasByteMethod) writer.u8(record.method);
  else writer.u32le(record.method);
  if (format.version === 1) writer.u64le(record.time ?? 0n);
  writer.raw(sha1Of(record) ?? new Uint8Array(20));
  if (format.version < 3) return;
  if (record.method !== 0) {
    writer.u32le(blockCount).raw(bytes.subarray(blocksOffset, blocksOffset + blockCount * blockRecordSize));
  }
  writer.u8((record.encrypted ? flagEncrypted : 0) | (record.deleted ? flagDeleted : 0)).u32le(record.blockSize);
}

/** Offset of an entry's data in the file. */
export function dataOffset(record: EntryRecord): number {
  return record.offset + record.headerSize;
}

/** Bytes that the data of an entry takes in the file, padding included. */
export function dataSize({ encrypted, storedSize }: EntryRecord): number {
  return encrypted ? alignToBlock(storedSize) : storedSize;
}

/** Where the blocks of a compressed entry lie. Throws E_FORMAT_RANGE for numbers that no file can have. */
export function* blockRanges(record: EntryRecord, { version }: RecordFormat): Generator<BlockRange> {
  const { blocksOffset, blockCount, blockStride, offset, encrypted } = record;
  let next = dataOffset(record);
  if (blocksOffset < 0) {
    if (blockCount > 0) yield { start: next, end: next + record.storedSize };
    return;
  }
  const reader = new ByteReader(record.bytes, 'blocks of an Unreal PAK entry', blocksOffset);
  const base = version >= 5 ? offset : 0;
  for (let i = 0; i < blockCount; i++) {
    const isPair = blockStride === blockRecordSize;
    const start = isPair ? base + readSize(reader) : next;
    const end = isPair ? base + readSize(reader) : next + reader.u32le();
    yield { start, end };
    next = encrypted ? start + alignToBlock(end - start) : end;
  }
}
