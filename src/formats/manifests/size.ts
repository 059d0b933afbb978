// The size manifest: how large each encoded object of a build is expected to be, for plans and progress.
//
//   magic        "DS"
//   version      u8, 1 or 2
//   ekeyBytes    u8 = 9
//   entryCount   u32
//   tagCount     u16
//   total        u40 (header of 15 bytes)   or, in some of version 1, u64 and a width u8 (header of 19 bytes)
//   tags         see tags.ts; before the entries
//   entries      ekey [ekeyBytes]   size u32, or of the width given
//
// Known from wowdev.wiki (TACT), which has version 1 with 15 bytes, and from a reading of the official client, which has it
// with 19. The sizes that real builds of 2019 to 2026 give for their manifests fit 15 bytes only. So version 1 is read the
// way in which it ends where the file ends.

import { concatBytes } from '../../core/bytes.ts';
import { formatError, isPakratError } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import { type EntryTable, entryTable } from '../../core/tables/entry-table.ts';
import { ByteWriter } from '../../core/writer.ts';
import { type Format, startsWith } from '../format.ts';
import { entryPieces, readTags, type TaggedEntries, writeTags } from './tags.ts';

/** One encoded object. */
export interface SizeEntry {
  /** A view of the start of its key, mostly 9 bytes. */
  readonly ekey: Uint8Array;
  /** Encoded size in bytes. */
  readonly size: number;
}

/** The fields that the header fixes. */
export interface SizeShape {
  readonly version: 1 | 2;
  readonly ekeyBytes: number;
  /** Bytes of a size in an entry. */
  readonly sizeBytes: number;
  /** Sum of all sizes in bytes. */
  readonly total: number;
  /** Whether the header is the one of 19 bytes. */
  readonly longHeader: boolean;
}

/**
 * The value of a size manifest to write; a shape that is left out is that of real builds: version 2, 9 bytes of each key.
 * Keys may be longer than is kept of them. A `total` that is left out is counted.
 */
export interface SizeContent extends Partial<SizeShape>, TaggedEntries<SizeEntry> {}

/** A decoded size manifest: what {@link encodeSize} takes, with entries that stay bytes. Each row starts with its key. */
export interface SizeManifest extends SizeShape, TaggedEntries<SizeEntry>, EntryTable<SizeEntry> {}

const format = 'size manifest';

/** Told by its magic and version. */
export const sizeFormat: Format = { name: format, matches: startsWith('DS\x01', 'DS\x02') };

/** Reads a size manifest. @throws E_FORMAT… when it is none, is cut off or goes on behind its last entry */
export function decodeSize(bytes: Uint8Array): SizeManifest {
  const reader = new ByteReader(bytes, format);
  reader.magic('DS');
  const version = reader.version('u8', 1, 2);
  if (version === 2) return decodeAfterVersion(reader, { version, longHeader: false });
  const start = reader.pos;
  try {
    return decodeAfterVersion(reader, { version, longHeader: true });
  } catch (error) {
    if (!isPakratError(error)) throw error;
    reader.seek(start);
    return decodeAfterVersion(reader, { version, longHeader: false });
  }
}

function decodeAfterVersion(reader: ByteReader, known: Pick<SizeShape, 'version' | 'longHeader'>): SizeManifest {
  const ekeyBytes = reader.u8();
  const entryCount = reader.u32();
  const tagCount = reader.u16();
  const total = known.longHeader ? reader.u64() : reader.u40();
  const sizeBytes = known.longHeader ? reader.u8() : 4;
  if (ekeyBytes < 1 || ekeyBytes > 16 || sizeBytes < 1 || sizeBytes > 6) {
    throw formatError('E_FORMAT_RANGE', format, 'impossible field widths', { found: `${ekeyBytes} and ${sizeBytes}` });
  }
  const tags = readTags(reader, tagCount, entryCount);
  const rows = reader.table(entryCount, ekeyBytes + sizeBytes);
  reader.end();
  return { ...known, ekeyBytes, sizeBytes, total, tags, ...entryTable(rows, (row) => decodeEntry(row, ekeyBytes)) };
}

function decodeEntry(row: Uint8Array, ekeyBytes: number): SizeEntry {
  const reader = new ByteReader(row, format);
  return { ekey: reader.take(ekeyBytes), size: reader.uint(row.length - ekeyBytes) };
}

/**
 * Writes a size manifest of either version, with either header of version 1.
 * @throws E_FORMAT_RANGE when a size does not fit, the count is wrong, or the header has no place for what is asked
 */
export function encodeSize(content: SizeContent): Uint8Array {
  return concatBytes([...sizePieces(content)]);
}

/** The same in pieces, for one that is larger than memory should be. Entries are gone through twice where no total is given. @throws as {@link encodeSize} */
export function* sizePieces(content: SizeContent): Generator<Uint8Array> {
  const { count, tags, version = 2, longHeader = false, ekeyBytes = 9, sizeBytes = 4 } = content;
  if ((longHeader && version === 2) || (!longHeader && sizeBytes !== 4)) {
    throw formatError('E_FORMAT_RANGE', format, `version ${version} has no such header, or no place for a width`);
  }
  const total = content.total ?? totalOf(content.entries);
  if (total >= (longHeader ? Number.MAX_SAFE_INTEGER : 2 ** 40)) {
    throw formatError('E_FORMAT_RANGE', format, 'the total does not fit the header', { found: total });
  }
  const header = new ByteWriter().text('DS').u8(version).u8(ekeyBytes).u32(count).u16(tags.length);
  if (longHeader) header.u64(total).u8(sizeBytes);
  else header.u40(total);
  writeTags(header, tags);
  yield header.written;
  yield* entryPieces(format, content, (writer, { ekey, size }) => {
    if (!(size >= 0 && size < 2 ** (8 * sizeBytes)) || ekey.length < ekeyBytes) {
      const problem = `size ${size} does not fit into ${sizeBytes} bytes, or a key is short`;
      throw formatError('E_FORMAT_RANGE', format, problem);
    }
    writer.raw(ekey.subarray(0, ekeyBytes)).uint(size, sizeBytes);
  });
}

function totalOf(entries: Iterable<SizeEntry>): number {
  let total = 0;
  for (const { size } of entries) total += size;
  return total;
}
