// The download manifest: every encoded object of a build, in the order in which a client should fetch them.
//
//   magic         "DL"
//   version       u8, 1 to 3
//   ekeyBytes     u8 = 16
//   hasChecksum   u8
//   entryCount    u32
//   tagCount      u16
//   version ≥ 2:  flagSize u8, 0 to 4
//   version ≥ 3:  basePriority i8, and 3 bytes (reserved: kept, not used)
//   entries       ekey [16]   encoded size u40   priority i8   checksum u32 if hasChecksum   flags, flagSize bytes
//   tags          see tags.ts; behind the entries
//
//   44 4c 01 10 00 00 00 00 64 00 1d      a header of version 1 with 100 entries and 29 tags
// What counts is priority − basePriority; lower comes sooner. Known from wowdev.wiki (TACT) and checked on a real manifest of
// version 1 (shortened). Retail has 2.4 million entries: rows stay bytes.

import { concatBytes, uintAt } from '../../core/bytes.ts';
import { formatError, PakratError } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import { type EntryTable, entryTable } from '../../core/tables/entry-table.ts';
import type { RecordTable } from '../../core/tables/record-table.ts';
import { ByteWriter } from '../../core/writer.ts';
import { type Format, startsWith } from '../format.ts';
import { entryPieces, readTags, type Tag, type TaggedEntries, writeTags } from './tags.ts';

/** One encoded object. */
export interface DownloadEntry {
  /** A view of the 16 bytes of its key. */
  readonly ekey: Uint8Array;
  /** Encoded size in bytes. */
  readonly size: number;
  /** The priority that counts, base taken off; lower comes sooner. */
  readonly priority: number;
  /** Undefined when the manifest has none. */
  readonly checksum?: number;
  /** Undefined when the manifest has none. */
  readonly flags?: number;
}

/** The fields that the header fixes for all entries. */
export interface DownloadShape {
  readonly version: 1 | 2 | 3;
  readonly hasChecksum: boolean;
  /** Bytes of flags in an entry, 0 to 4. */
  readonly flagSize: number;
  readonly basePriority: number;
  /** The 3 bytes that version 3 has behind the base priority, as they are. */
  readonly reserved?: Uint8Array;
}

/** The value of a download manifest to write; a shape that is left out is that of version 1. */
export interface DownloadContent extends Partial<DownloadShape>, TaggedEntries<DownloadEntry> {}

/** A decoded download manifest: what {@link encodeDownload} takes, with entries that stay bytes. Each row starts with its key. */
export interface Download extends DownloadShape, TaggedEntries<DownloadEntry>, EntryTable<DownloadEntry> {}

const format = 'download manifest';

/** Told by its magic and version. */
export const downloadFormat: Format = { name: format, matches: startsWith('DL\x01', 'DL\x02', 'DL\x03') };

const reservedSize = 3;
/** Offsets in an entry. */
const sizeAt = 16;
const priorityAt = 21;

/** The parts of a download manifest before its tags. */
export interface DownloadLayout {
  readonly shape: DownloadShape;
  /** Offset of the first entry. */
  readonly entriesAt: number;
  /** Bytes of an entry. */
  readonly entrySize: number;
  readonly count: number;
  readonly tagCount: number;
}

/** A header has as many bytes at the most. */
export const maxDownloadHeaderSize = 16;

/** Reads the header of a download manifest. @throws E_FORMAT… when it is none */
export function decodeDownloadLayout(bytes: Uint8Array): DownloadLayout {
  return readLayout(new ByteReader(bytes, format));
}

function readLayout(reader: ByteReader): DownloadLayout {
  reader.magic('DL');
  const version = reader.version('u8', 1, 2, 3);
  const ekeyBytes = reader.u8();
  if (ekeyBytes !== 16) throw new PakratError('E_UNSUPPORTED', `${format}: keys of ${ekeyBytes} bytes`);
  const hasChecksum = reader.u8() !== 0;
  const count = reader.u32();
  const tagCount = reader.u16();
  const flagSize = version >= 2 ? reader.u8() : 0;
  if (flagSize > 4)
    throw formatError('E_FORMAT_RANGE', format, 'flags too wide', { offset: 11, expected: '0 to 4', found: flagSize });
  const basePriority = version >= 3 ? reader.i8() : 0;
  const reserved = version >= 3 ? reader.take(reservedSize) : undefined;
  const shape = { version, hasChecksum, flagSize, basePriority, ...(reserved && { reserved }) } as const;
  return { shape, entriesAt: reader.pos, entrySize: entrySize(shape), count, tagCount };
}

/** Reads the tags of a download manifest: all that lies behind its entries. @throws E_FORMAT… when they are cut off or something follows */
export function decodeDownloadTags(bytes: Uint8Array, { tagCount, count }: DownloadLayout): Tag[] {
  const reader = new ByteReader(bytes, format);
  const tags = readTags(reader, tagCount, count);
  reader.end();
  return tags;
}

/** Reads a download manifest. @throws E_FORMAT… when it is none, is cut off or goes on behind its last tag */
export function decodeDownload(bytes: Uint8Array): Download {
  const reader = new ByteReader(bytes, format);
  const layout = readLayout(reader);
  const { shape, count } = layout;
  const rows = reader.table(count, layout.entrySize);
  const tags = decodeDownloadTags(bytes.subarray(reader.pos), layout);
  return { ...shape, tags, ...entryTable(rows, (row) => decodeDownloadEntry(row, shape)) };
}

function entrySize({ hasChecksum, flagSize }: DownloadShape): number {
  return 16 + 5 + 1 + (hasChecksum ? 4 : 0) + flagSize;
}

/** The encoded size of entry `i`: no object is made. */
export function downloadSize({ bytes, stride }: RecordTable, i: number): number {
  return uintAt(bytes, i * stride + sizeAt, 5);
}

/** The priority of entry `i` that counts: no object is made. */
export function downloadPriority({ rows, basePriority }: Pick<Download, 'rows' | 'basePriority'>, i: number): number {
  return ((rows.bytes[i * rows.stride + priorityAt]! << 24) >> 24) - basePriority;
}

/** The fields of a row. */
export function decodeDownloadEntry(
  row: Uint8Array,
  { hasChecksum, flagSize, basePriority }: DownloadShape,
): DownloadEntry {
  const ekey = row.subarray(0, 16);
  const size = uintAt(row, sizeAt, 5);
  const priority = ((row[priorityAt]! << 24) >> 24) - basePriority;
  // One literal for each shape: a build has millions of entries, and spreading takes longer than all the rest.
  if (!hasChecksum)
    return flagSize === 0 ? { ekey, size, priority } : { ekey, size, priority, flags: uintAt(row, 22, flagSize) };
  const checksum = uintAt(row, 22, 4);
  return flagSize === 0
    ? { ekey, size, priority, checksum }
    : { ekey, size, priority, checksum, flags: uintAt(row, 26, flagSize) };
}

/** Writes a download manifest. @throws E_FORMAT_RANGE when a size or priority does not fit, or the count is wrong */
export function encodeDownload(content: DownloadContent): Uint8Array {
  return concatBytes([...downloadPieces(content)]);
}

/** The same in pieces, for one that is larger than memory should be. @throws as {@link encodeDownload} */
export function* downloadPieces(content: DownloadContent): Generator<Uint8Array> {
  const { version = 1, hasChecksum = false, flagSize = 0, basePriority = 0, count, tags } = content;
  const { reserved = new Uint8Array(reservedSize) } = content;
  if ((flagSize > 0 && version < 2) || (basePriority !== 0 && version < 3)) {
    throw formatError('E_FORMAT_RANGE', format, `version ${version} has no place for flags or a base priority`);
  }
  const shape = { version, hasChecksum, flagSize, basePriority };
  const header = new ByteWriter(maxDownloadHeaderSize)
    .text('DL')
    .u8(version)
    .u8(16)
    .u8(hasChecksum ? 1 : 0);
  header.u32(count).u16(tags.length);
  if (version >= 2) header.u8(flagSize);
  if (version >= 3) header.i8(basePriority).raw(reserved);
  yield header.written;
  yield* entryPieces(format, content, (writer, entry) => encodeEntry(writer, entry, shape));
  const behind = new ByteWriter();
  writeTags(behind, tags);
  yield behind.written;
}

function encodeEntry(writer: ByteWriter, entry: DownloadEntry, shape: DownloadShape): void {
  const priority = entry.priority + shape.basePriority;
  if (!(entry.size >= 0 && entry.size < 2 ** 40 && priority >= -128 && priority <= 127)) {
    throw formatError('E_FORMAT_RANGE', format, `size ${entry.size} or priority ${priority} does not fit`);
  }
  writer.raw(entry.ekey).u40(entry.size).i8(priority);
  if (shape.hasChecksum) writer.u32(entry.checksum ?? 0);
  if (shape.flagSize > 0) writer.uint(entry.flags ?? 0, shape.flagSize);
}
