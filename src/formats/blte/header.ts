/*
 * The start of a BLTE object, which is how every file lies on a CDN. Numbers are big-endian.
 *
 *   0   magic         "BLTE"
 *   4   header size   u32   12 + rows; 0: no table, one chunk fills the rest
 *   8   format        u8    0x0f, or 0x10 with longer rows
 *   9   chunk count   u24   1 or more
 *   12  rows, one for each chunk:
 *         encoded size   u32   with its mode byte
 *         decoded size   u32
 *         MD5            16    of the encoded chunk
 *         decoded MD5    16    format 0x10 only
 *
 * The chunks follow without gaps up to the end of the object. The ekey of an object is the MD5 of this header,
 * or of the whole object when there is no table. So the chunks are covered by the ekey only through their rows.
 * (wowdev.wiki BLTE; format 0x10 is known from one product; checked on real files)
 */

import { formatError } from '../../core/errors.ts';
import { md5Hex } from '../../core/hash.ts';
import { ByteReader, repeatable } from '../../core/reader.ts';
import type { RecordTable } from '../../core/tables/record-table.ts';
import { ByteWriter } from '../../core/writer.ts';
import { type Format, startsWith } from '../format.ts';

/** Told by its magic. */
export const blteFormat: Format = { name: 'BLTE', matches: startsWith('BLTE') };

/** Bytes that tell how long the header is. */
export const bltePrefixSize = 8;

const what = 'BLTE header';
const tableOffset = 12;
const maxCount = 0xffffff;
const rowSizes = { 15: 24, 16: 40 } as const;

/** The two kinds of table. */
export type BlteFormat = keyof typeof rowSizes;

/** One chunk of an object. */
export interface BlteChunk {
  index: number;
  /** From the start of the object. */
  offset: number;
  encodedSize: number;
  /** Undefined when the object has no table. */
  decodedSize: number | undefined;
  /** Of the encoded bytes; undefined when the object has no table. */
  md5: Uint8Array | undefined;
  /** Of the decoded bytes; in format 0x10 only. */
  decodedMd5?: Uint8Array;
}

/** One row of a table. */
export interface BlteRow {
  encodedSize: number;
  decodedSize: number;
  md5: Uint8Array;
  /** Needed in format 0x10, not written in the other. */
  decodedMd5?: Uint8Array;
}

/** The header of an object to write: its table, a row for each chunk; without a format there is none. */
export interface BlteTable {
  readonly format: BlteFormat | undefined;
  readonly rows: Iterable<BlteRow>;
}

/** The header of an object, what {@link encodeBlteHeader} takes; its rows stay bytes. */
export interface BlteHeader extends BlteTable {
  /** 0 when there is no table. */
  headerSize: number;
  /** Offset of the first chunk. */
  dataOffset: number;
  count: number;
  objectSize: number;
  /** Sum over all chunks; undefined when there is no table. */
  decodedSize: number | undefined;
  /** Chunk `index`. Throws E_FORMAT_RANGE when there is none. */
  chunk(index: number): BlteChunk;
}

/**
 * The size of the header at the start of an object: 8 when it has no table.
 * @param first8 the first {@link bltePrefixSize} bytes, or more
 * @throws E_FORMAT_MAGIC, E_FORMAT_TRUNCATED, E_FORMAT_RANGE for a size that no table has
 */
export function decodeBltePrefix(first8: Uint8Array): number {
  const reader = new ByteReader(first8, what);
  reader.magic('BLTE');
  const headerSize = reader.u32();
  if (headerSize === 0) return bltePrefixSize;
  const least = tableOffset + rowSizes[0x0f];
  const most = tableOffset + rowSizes[0x10] * maxCount;
  if (headerSize < least || headerSize > most) {
    const facts = { offset: 4, expected: `0 or ${least} to ${most}`, found: headerSize };
    throw formatError('E_FORMAT_RANGE', what, 'impossible header size', facts);
  }
  return headerSize;
}

/**
 * Reads the header of an object.
 * @param headerBytes the header; what follows it is not looked at
 * @param objectSize size of the whole object, which the chunks must fill exactly; undefined where only a table tells it
 * @throws E_FORMAT_… as {@link decodeBltePrefix}, E_FORMAT_VERSION for an unknown table, E_FORMAT_TRUNCATED or E_FORMAT
 *   when the chunks take more or less than the object
 */
export function decodeBlteHeader(headerBytes: Uint8Array, objectSize?: number): BlteHeader {
  const headerSize = decodeBltePrefix(headerBytes);
  return headerSize === bltePrefixSize ? oneChunk(objectSize ?? 0) : withTable(headerBytes, headerSize, objectSize);
}

const noTable: BlteTable = { format: undefined, rows: [] };

/** Writes the header of an object, without a table when none is given. Throws E_FORMAT_RANGE for what no row can hold. */
export function encodeBlteHeader(table: BlteTable = noTable): Uint8Array {
  const { format } = table;
  if (format === undefined) return new ByteWriter().text('BLTE').u32(0).bytes();
  const rows = [...table.rows];
  if (rows.length === 0 || rows.length > maxCount) {
    throw formatError('E_FORMAT_RANGE', what, `${rows.length} chunks, where a table has 1 to ${maxCount}`);
  }
  const headerSize = tableOffset + rowSizes[format] * rows.length;
  const writer = new ByteWriter(headerSize).text('BLTE').u32(headerSize).u8(format).u24(rows.length);
  for (const row of rows) {
    if (Math.max(row.encodedSize, row.decodedSize) > 0xffffffff) {
      throw formatError('E_FORMAT_RANGE', what, 'a chunk is larger than 4 GiB');
    }
    writer.u32(row.encodedSize).u32(row.decodedSize).raw(row.md5);
    if (format === 0x0f) continue;
    if (row.decodedMd5 === undefined) throw formatError('E_FORMAT_RANGE', what, 'a row without the MD5 that 0x10 has');
    writer.raw(row.decodedMd5);
  }
  return writer.bytes();
}

/**
 * The ekey of an object as lower-case hex: the MD5 of its header, or of all of it when it has no table.
 * @throws E_FORMAT_MAGIC, E_FORMAT_TRUNCATED, E_FORMAT_RANGE when its start is no BLTE header
 */
export function ekeyOfBlte(bytes: Uint8Array): string {
  const headerSize = decodeBltePrefix(bytes);
  return md5Hex(headerSize === bltePrefixSize ? bytes : new ByteReader(bytes, what).take(headerSize));
}

function oneChunk(objectSize: number): BlteHeader {
  const encodedSize = objectSize - bltePrefixSize;
  if (encodedSize < 1) throw formatError('E_FORMAT_TRUNCATED', what, 'no chunk follows', { offset: objectSize });
  const only = { index: 0, offset: bltePrefixSize, encodedSize, decodedSize: undefined, md5: undefined };
  return {
    headerSize: 0,
    dataOffset: bltePrefixSize,
    ...noTable,
    count: 1,
    objectSize,
    decodedSize: undefined,
    chunk(index) {
      checkIndex(index, 1);
      return { ...only };
    },
  };
}

function withTable(headerBytes: Uint8Array, headerSize: number, knownSize: number | undefined): BlteHeader {
  const reader = new ByteReader(headerBytes, what, bltePrefixSize);
  const format = reader.version('u8', 0x0f, 0x10);
  const count = reader.u24();
  if (count === 0 || tableOffset + count * rowSizes[format] !== headerSize) {
    const facts = { offset: 9, expected: (headerSize - tableOffset) / rowSizes[format], found: count };
    throw formatError('E_FORMAT', what, 'chunk count and header size differ', facts);
  }
  const table = reader.table(count, rowSizes[format]);
  const { offsets, decodedSize, objectSize } = sumUp(table, headerSize, knownSize);
  return {
    headerSize,
    dataOffset: headerSize,
    format,
    rows: repeatable(function* () {
      for (let index = 0; index < count; index++) yield chunkOf(table.at(index), index, offsets);
    }),
    count,
    objectSize,
    decodedSize,
    chunk(index) {
      checkIndex(index, count);
      return chunkOf(table.at(index), index, offsets);
    },
  };
}

/** The offset of every chunk, and after the last one the end of the object, which must be its size where that is known. */
function sumUp(rows: RecordTable, headerSize: number, knownSize: number | undefined) {
  const offsets = new Float64Array(rows.count + 1);
  const reader = new ByteReader(rows.bytes, what);
  let end = headerSize;
  let decodedSize = 0;
  for (let i = 0; i < rows.count; i++) {
    offsets[i] = end;
    reader.seek(i * rows.stride);
    const encodedSize = reader.u32();
    if (encodedSize === 0) {
      throw formatError('E_FORMAT', what, `chunk ${i} has no bytes`, { offset: tableOffset + i * rows.stride });
    }
    end += encodedSize;
    decodedSize += reader.u32();
  }
  offsets[rows.count] = end;
  const objectSize = knownSize ?? end;
  if (end !== objectSize) {
    const [code, problem] =
      end > objectSize
        ? (['E_FORMAT_TRUNCATED', 'the chunks do not fit'] as const)
        : (['E_FORMAT', 'bytes behind the last chunk'] as const);
    throw formatError(code, what, problem, { offset: Math.min(end, objectSize), expected: end, found: objectSize });
  }
  return { offsets, decodedSize, objectSize };
}

function chunkOf(row: Uint8Array, index: number, offsets: Float64Array): BlteChunk & BlteRow {
  const offset = offsets[index]!;
  const reader = new ByteReader(row, what, 4);
  const chunk = {
    index,
    offset,
    encodedSize: offsets[index + 1]! - offset,
    decodedSize: reader.u32(),
    md5: reader.take(16),
  };
  return reader.remaining === 0 ? chunk : { ...chunk, decodedMd5: reader.take(16) };
}

function checkIndex(index: number, count: number): void {
  if (!(index >= 0 && index < count)) throw formatError('E_FORMAT_RANGE', what, `no chunk ${index} among ${count}`);
}
