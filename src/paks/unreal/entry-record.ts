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
import { ByteReader } from '../../core/reader.ts';
import { RecordTable } from '../../core/record-table.ts';
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

/** A decoded record. What is rarely asked for stays a view of the index. */
export interface EntryRecord {
  offset: number;
  storedSize: number;
  size: number;
  /** As stored: see above. */
  method: number;
  /** Version 1: ticks of 100 ns since the year 1, or seconds since 1970 by a tool that did not know better. */
  time: bigint | undefined;
  /** Undefined where the index does not have it (version 10 and above). */
  sha1: Uint8Array | undefined;
  encrypted: boolean;
  deleted: boolean;
  blockSize: number;
  /** Start and end (16 bytes) or unpadded size (4 bytes) of each block; undefined when all is one block, or not compressed. */
  blocks: RecordTable | undefined;
  /** Version 15 with AES-CTR. */
  iv: Uint8Array | undefined;
  /** Bytes of the record in front of the data. */
  headerSize: number;
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
export function readEntryRecord(reader: ByteReader, format: RecordFormat): EntryRecord {
  const start = reader.pos;
  const offset = reader.u64le();
  const storedSize = reader.u64le();
  const size = reader.u64le();
  const method = format.hasByteMethod ? reader.u8() : reader.u32le();
  const time = format.version === 1 ? reader.u64leBig() : undefined;
  const sha1 = reader.take(20);
  const isLong = format.version >= 3;
  const blocks = isLong && method !== 0 ? readBlocks(reader) : undefined;
  const flags = isLong ? reader.u8() : 0;
  const blockSize = isLong ? reader.u32le() : 0;
  return {
    ...{ offset, storedSize, size, method, time, sha1, blocks, blockSize, iv: undefined },
    encrypted: (flags & flagEncrypted) !== 0,
    deleted: (flags & flagDeleted) !== 0,
    headerSize: reader.pos - start,
  };
}

function readBlocks(reader: ByteReader): RecordTable {
  const count = reader.count(reader.u32le(), blockRecordSize);
  return new RecordTable(reader.take(count * blockRecordSize), blockRecordSize, count);
}

/** The mirror of {@link readEntryRecord}, for records with a SHA-1 and whole blocks. */
export function writeEntryRecord(writer: ByteWriter, record: EntryRecord, format: RecordFormat): void {
  writer.u64le(record.offset).u64le(record.storedSize).u64le(record.size);
  if (format.hasByteMethod) writer.u8(record.method);
  else writer.u32le(record.method);
  if (format.version === 1) writer.u64le(record.time ?? 0n);
  writer.raw(record.sha1 ?? new Uint8Array(20));
  if (format.version < 3) return;
  if (record.method !== 0) writer.u32le(record.blocks?.count ?? 0).raw(record.blocks?.bytes ?? new Uint8Array(0));
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

/** How many blocks a compressed entry has. */
export function blockCount({ blocks, size }: EntryRecord): number {
  return blocks?.count ?? (size === 0 ? 0 : 1);
}

/** Where the blocks of a compressed entry lie. Throws E_FORMAT_RANGE for numbers that no file can have. */
export function* blockRanges(record: EntryRecord, { version }: RecordFormat): Generator<BlockRange> {
  const { blocks, offset, encrypted } = record;
  if (blocks === undefined) {
    if (record.size > 0) yield { start: dataOffset(record), end: dataOffset(record) + record.storedSize };
    return;
  }
  const reader = new ByteReader(blocks.bytes, 'blocks of an Unreal PAK entry');
  const base = version >= 5 ? offset : 0;
  let next = dataOffset(record);
  for (let i = 0; i < blocks.count; i++) {
    const isPair = blocks.stride === blockRecordSize;
    const start = isPair ? base + reader.u64le() : next;
    const end = isPair ? base + reader.u64le() : next + reader.u32le();
    yield { start, end };
    next = encrypted ? start + alignToBlock(end - start) : end;
  }
}
