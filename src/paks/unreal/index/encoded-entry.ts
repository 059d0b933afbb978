/*
 * The short form of a record in the index of version 10 and above. Little-endian.
 *
 *   bits            u32  0-5 block size >> 11, 63 when the next field holds it · 6-21 block count · 22 encrypted ·
 *                        23-28 method · 29 stored size, 30 size, 31 offset: 1 when it takes 32 bits, 0 when it takes 64
 *   [block size     u32]
 *   offset          u32 or u64
 *   size            u32 or u64
 *   [IV             12   encrypted with AES-CTR]
 *   [stored size    u32 or u64   only when compressed; otherwise it is the size]
 *   [block sizes    u32 each     without padding; left out for a single block that is not encrypted]
 *
 * Blocks follow each other from the end of the record in front of the data, whose size the counts give.
 * A single block often has a block size of 0: it then holds the whole entry. (Checked on real files.)
 */
import { ByteReader } from '../../../core/reader.ts';
import type { ByteWriter } from '../../../core/writer.ts';
import {
  blockRanges,
  type EntryRecord,
  maxHigh,
  type RecordFormat,
  readSize,
  recordSize,
} from '../entries/entry-record.ts';

const ivSize = 12;
const blockRowSize = 4;
const blockSizeEscape = 0x3f;
const maxBlockCount = 0xffff;
const maxMethod = 0x3f;
const max32 = 0xffffffff;

/** The most that an encoded entry takes: numbers of 64 bits, an IV, and as many blocks as can be told. */
export const maxEncodedSize = 4 + 4 + 3 * 8 + ivSize + maxBlockCount * blockRowSize;

/** The facts of a PAK that decide the form of encoded entries. */
export interface EncodedFormat extends RecordFormat {
  readonly hasIvs: boolean;
}

/** Decodes the entry at a position of the encoded entries. Throws E_FORMAT_TRUNCATED, E_FORMAT_RANGE. */
export function decodeEncodedEntry(bytes: Uint8Array, position: number, format: EncodedFormat): EntryRecord {
  const reader = new ByteReader(bytes, 'encoded entry of an Unreal PAK');
  reader.seek(position);
  const bits = reader.u32le();
  const count = (bits >>> 6) & maxBlockCount;
  const encrypted = (bits & 0x400000) !== 0;
  const method = (bits >>> 23) & maxMethod;
  const sizeCode = bits & blockSizeEscape;
  const blockSize = sizeCode === blockSizeEscape ? reader.u32le() : sizeCode << 11;
  const offset = readNumber(reader, bits, 31);
  const size = readNumber(reader, bits, 30);
  const ivOffset = encrypted && format.hasIvs ? reader.pos : -1;
  if (ivOffset >= 0) reader.skip(ivSize);
  const storedSize = method === 0 ? size : readNumber(reader, bits, 29);
  const hasSizes = method !== 0 && (count !== 1 || encrypted);
  reader.count(hasSizes ? count : 0, blockRowSize);
  return {
    offset,
    storedSize,
    size,
    method,
    time: undefined,
    encrypted,
    deleted: false,
    blockSize,
    blockCount: method === 0 ? 0 : count,
    headerSize: recordSize(format, method === 0 ? undefined : count),
    bytes,
    recordOffset: -1,
    sha1Offset: -1,
    blocksOffset: hasSizes ? reader.pos : -1,
    blockStride: blockRowSize,
    ivOffset,
  };
}

/** True when the entry at a position is surely one that {@link decodeEncodedEntry} decodes: of a million it need not be asked then. */
export function fitsEncodedEntry(view: DataView, position: number, { hasIvs }: EncodedFormat): boolean {
  if (position + 4 > view.byteLength) return false;
  const bits = view.getUint32(position, true);
  const count = (bits >>> 6) & maxBlockCount;
  const isPlain = ((bits >>> 23) & maxMethod) === 0;
  const isEncrypted = (bits & 0x400000) !== 0;
  // Sizes of 64 bits are rare, and can be too large.
  if (((bits >>> 29) & 3) !== 3) return false;
  const offsetAt = position + ((bits & blockSizeEscape) === blockSizeEscape ? 8 : 4);
  const sizesAt = offsetAt + (bits >>> 31 === 1 ? 4 : 8);
  if (sizesAt > view.byteLength) return false;
  if (bits >>> 31 === 0 && view.getUint32(offsetAt + 4, true) > maxHigh) return false;
  const blocks = !isPlain && (count !== 1 || isEncrypted) ? count : 0;
  const size = (isPlain ? 4 : 8) + (isEncrypted && hasIvs ? ivSize : 0) + blocks * blockRowSize;
  return sizesAt + size <= view.byteLength;
}

function readNumber(reader: ByteReader, bits: number, bit: number): number {
  return (bits >>> bit) & 1 ? reader.u32le() : readSize(reader);
}

/** True when a record can be written in the short form. */
export function isEncodable(record: EntryRecord): boolean {
  return record.blockCount <= maxBlockCount && record.method <= maxMethod && !record.deleted;
}

/** Writes a record, which has whole blocks as in front of the data, in the short form. */
export function writeEncodedEntry(writer: ByteWriter, record: EntryRecord, format: RecordFormat): void {
  const { offset, size, storedSize, method, encrypted, blockSize, blockCount } = record;
  const sizeCode = blockSize % 2048 === 0 && blockSize >>> 11 < blockSizeEscape ? blockSize >>> 11 : blockSizeEscape;
  const small = (value: number, bit: number): number => (value <= max32 ? 2 ** bit : 0);
  const flags = (encrypted ? 0x400000 : 0) + small(storedSize, 29) + small(size, 30) + small(offset, 31);
  writer.u32le(sizeCode + blockCount * 64 + method * 0x800000 + flags);
  if (sizeCode === blockSizeEscape) writer.u32le(blockSize);
  writeNumber(writer, offset);
  writeNumber(writer, size);
  if (method === 0) return;
  writeNumber(writer, storedSize);
  if (blockCount === 1 && !encrypted) return;
  for (const { start, end } of blockRanges(record, format)) writer.u32le(end - start);
}

function writeNumber(writer: ByteWriter, value: number): void {
  if (value <= max32) writer.u32le(value);
  else writer.u64le(value);
}
