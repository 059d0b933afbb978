/*
 * The record of an entry of an Unreal PAK. The whole of it stands in the index of versions 1 to 9 and, with offset 0, in
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

import { alignToBlock } from '../../../codecs/ciphers/aes.ts';
import { viewOf } from '../../../core/bytes.ts';
import { formatError, type PakratError } from '../../../core/errors.ts';
import { ByteReader } from '../../../core/reader.ts';
import type { ByteWriter } from '../../../core/writer.ts';

/** Bytes of a block's start and end in a record. */
export const blockRecordSize = 16;
const offsetSize = 8;
const flagEncrypted = 1;
const flagDeleted = 2;
/** Upper half of the largest number that JavaScript has exactly. */
export const maxHigh = 0x1fffff;

/** The facts of a version that decide the form of a record. */
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
  /** The bytes that hold the rest, at the offsets that follow; an offset is -1 for what is not there. */
  bytes: Uint8Array;
  /** The record itself, as it also stands in front of the data but for its offset; not there where the index has a short form. */
  recordOffset: number;
  /** 20 bytes; not there in the index of version 10 and above. */
  sha1Offset: number;
  /** A row for each block; not there when a single block has the whole data. */
  blocksOffset: number;
  /** Bytes of such a row: 16 for start and end, 4 for the size without padding. */
  blockStride: number;
  /** 12 bytes; version 15 with AES-CTR. */
  ivOffset: number;
}

/**
 * Records are objects of one shape to V8, and this is the first of them. It has fractions where others have small numbers here and large ones there: with whole
 * numbers the shape would be given up for another one later, and what was compiled for it be compiled anew without end (a diff took three times as long).
 */
const firstRecordOfAll: EntryRecord = {
  offset: 0.5,
  storedSize: 0.5,
  size: 0.5,
  method: 0,
  time: undefined,
  encrypted: false,
  deleted: false,
  blockSize: 0,
  blockCount: 0,
  headerSize: 0,
  bytes: new Uint8Array(0),
  recordOffset: -1,
  sha1Offset: -1,
  blocksOffset: -1,
  blockStride: blockRecordSize,
  ivOffset: -1,
};

/** The record of a name with nothing behind it. */
export const emptyRecord: EntryRecord = { ...firstRecordOfAll, offset: 0, storedSize: 0, size: 0 };

/** The SHA-1 of a record, where it has one. */
export function sha1Of({ bytes, sha1Offset }: EntryRecord): Uint8Array | undefined {
  return sha1Offset < 0 ? undefined : bytes.subarray(sha1Offset, sha1Offset + 20);
}

/** The IV of a record, where it has one. */
export function ivOf({ bytes, ivOffset }: EntryRecord): Uint8Array | undefined {
  return ivOffset < 0 ? undefined : bytes.subarray(ivOffset, ivOffset + 12);
}

/** The least that a record takes. */
export function minRecordSize({ version, hasByteMethod }: RecordFormat): number {
  const base = version === 1 ? 56 : version === 2 ? 48 : 53;
  return hasByteMethod ? base - 3 : base;
}

/** Bytes of a record. @param blockCount undefined for an entry that is not compressed */
export function recordSize(format: RecordFormat, blockCount: number | undefined): number {
  const blocks = blockCount === undefined || format.version < 3 ? 0 : 4 + blockCount * blockRecordSize;
  return minRecordSize(format) + blocks;
}

/** The record that some bytes start with. @param what names them in errors @throws E_FORMAT_RANGE for numbers below 0 or past 2^53, E_FORMAT_TRUNCATED */
export function firstRecord(bytes: Uint8Array, format: RecordFormat, what: string): EntryRecord {
  const decoder = new RecordDecoder(bytes, format, { what });
  decoder.endOf(0);
  return decoder.at(0);
}

/** Decodes records anywhere in some bytes. An index has many thousands, so it goes through them with as few calls as it can. */
export class RecordDecoder {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #format: RecordFormat;
  readonly #what: string;
  readonly #origin: number;
  readonly #minSize: number;

  /**
   * @param messages.what names the bytes in errors
   * @param messages.origin where the bytes begin in what they are a window of
   */
  constructor(bytes: Uint8Array, format: RecordFormat, { what, origin = 0 }: { what: string; origin?: number }) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.#format = format;
    this.#what = what;
    this.#origin = origin;
    this.#minSize = minRecordSize(format);
  }

  /** The end of the record that starts at `start`. Throws E_FORMAT_RANGE for numbers below 0 or past 2^53, E_FORMAT_TRUNCATED. */
  endOf(start: number): number {
    const view = this.#view;
    const minEnd = start + this.#minSize;
    if (minEnd > view.byteLength) throw this.#truncated(start, this.#minSize);
    for (let at = start; at < start + 24; at += 8) {
      if (view.getUint32(at + 4, true) > maxHigh) throw tooLarge(this.#what, this.#origin + at);
    }
    if (this.#format.version < 3 || this.#methodAt(start) === 0) return minEnd;
    const size = this.#minSize + 4 + view.getUint32(minEnd - 5, true) * blockRecordSize;
    if (start + size > view.byteLength) throw this.#truncated(start, size);
    return start + size;
  }

  /** The record that starts at `start`, where {@link endOf} found one. */
  at(start: number): EntryRecord {
    const view = this.#view;
    const { version, hasByteMethod } = this.#format;
    const method = this.#methodAt(start);
    const timeAt = start + (hasByteMethod ? 25 : 28);
    const sha1Offset = version === 1 ? timeAt + 8 : timeAt;
    const hasBlocks = version >= 3 && method !== 0;
    const blockCount = hasBlocks ? view.getUint32(sha1Offset + 20, true) : method === 0 ? 0 : 1;
    const flagsAt = sha1Offset + (hasBlocks ? 24 + blockCount * blockRecordSize : 20);
    const flags = version >= 3 ? view.getUint8(flagsAt) : 0;
    return {
      offset: sizeAt(view, start),
      storedSize: sizeAt(view, start + 8),
      size: sizeAt(view, start + 16),
      method,
      time: version === 1 ? view.getBigUint64(timeAt, true) : undefined,
      encrypted: (flags & flagEncrypted) !== 0,
      deleted: (flags & flagDeleted) !== 0,
      blockSize: version >= 3 ? view.getUint32(flagsAt + 1, true) : 0,
      blockCount,
      headerSize: flagsAt + (version >= 3 ? 5 : 0) - start,
      bytes: this.#bytes,
      recordOffset: start,
      sha1Offset,
      blocksOffset: hasBlocks ? sha1Offset + 24 : -1,
      blockStride: blockRecordSize,
      ivOffset: -1,
    };
  }

  #methodAt(start: number): number {
    return this.#format.hasByteMethod ? this.#view.getUint8(start + 24) : this.#view.getUint32(start + 24, true);
  }

  #truncated(offset: number, size: number): PakratError {
    const left = this.#bytes.length - offset;
    return formatError('E_FORMAT_TRUNCATED', this.#what, `a record of ${size} bytes, ${left} left`, {
      offset: this.#origin + offset,
    });
  }
}

function sizeAt(view: DataView, at: number): number {
  return view.getUint32(at + 4, true) * 0x1_0000_0000 + view.getUint32(at, true);
}

/** A number of 64 bits; two halves are several times as fast as a bigint. Throws E_FORMAT_RANGE past 2^53. */
export function readSize(reader: ByteReader): number {
  const low = reader.u32le();
  const high = reader.u32le();
  if (high <= maxHigh) return high * 0x1_0000_0000 + low;
  throw tooLarge(reader.what, reader.pos - 8);
}

function tooLarge(what: string, offset: number): PakratError {
  return formatError('E_FORMAT_RANGE', what, 'a number below 0 or past 2^53', { offset });
}

/** The mirror of {@link RecordDecoder.at}, for records that have a SHA-1 and whole blocks. */
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

/** True when a record is the same as that of the index, byte for byte, but for the offset in front. */
export function isRecordAt(bytes: Uint8Array, record: EntryRecord): boolean {
  const { recordOffset, headerSize } = record;
  if (recordOffset < 0 || bytes.length < headerSize) return false;
  for (let i = offsetSize; i < headerSize; i++) if (bytes[i] !== record.bytes[recordOffset + i]) return false;
  return true;
}

/** The fault of an entry that cannot lie where its record says, in a file of this size; else undefined. */
export function placementProblem(record: EntryRecord, fileSize: number): string | undefined {
  const end = dataOffset(record) + dataSize(record);
  if (end > fileSize) return `its data ends at ${end}, past the end of the file`;
  if (record.method === 0 && record.storedSize !== record.size) {
    return `it is not compressed, but has ${record.storedSize} bytes for ${record.size}`;
  }
  return undefined;
}

/** Bytes of the stored form of one block, in the file. */
export interface BlockRange {
  start: number;
  /** Without padding. */
  end: number;
}

/**
 * The places of a compressed entry's blocks.
 * @param first number of the first one that is wanted: large entries have thousands
 * @throws E_FORMAT_RANGE for numbers that no file can have
 */
export function* blockRanges(record: EntryRecord, { version }: RecordFormat, first = 0): Generator<BlockRange> {
  const { blocksOffset, blockCount, blockStride, offset, encrypted } = record;
  let next = dataOffset(record);
  if (blocksOffset < 0) {
    if (blockCount > first) yield { start: next, end: next + record.storedSize };
    return;
  }
  const isPair = blockStride === blockRecordSize;
  const reader = new ByteReader(record.bytes, 'blocks of an Unreal PAK entry', blocksOffset);
  if (isPair) reader.skip(first * blockRecordSize);
  const base = version >= 5 ? offset : 0;
  for (let i = isPair ? first : 0; i < blockCount; i++) {
    const start = isPair ? base + readSize(reader) : next;
    const end = isPair ? base + readSize(reader) : next + reader.u32le();
    if (i >= first) yield { start, end };
    next = encrypted ? start + alignToBlock(end - start) : end;
  }
}
