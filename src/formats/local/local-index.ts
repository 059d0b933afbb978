/*
 * The .idx files of an installation, version 7: where each entry lies in the data.NNN files. Sixteen of them, one for each value of
 * {@link bucketOf}; all numbers but the place are little-endian.
 *
 *   0x00  header size   u32    16
 *   0x04  header hash   u32    hashlittle of those 16 bytes
 *   0x08  version       u16    7
 *   0x0A  bucket        u8
 *   0x0B  extra bytes   u8     0
 *   0x0C  size bytes    u8     4
 *   0x0D  place bytes   u8     5
 *   0x0E  key bytes     u8     9: the leading bytes of the ekey
 *   0x0F  offset bits   u8     30 of the place are the offset, those above it the number of the data file
 *   0x10  largest place u64
 *   0x18  padding       8      zeros
 *   0x20  entries size  u32    in bytes
 *   0x24  entries hash  u32    hashlittle2 of each row, seeded with the result for the row before (some writers: hashlittle of all)
 *   0x28  entries              sorted by key: key 9, place 5 (big-endian), size u32 with the 30 bytes of the local header
 *   …     updates              from the next multiple of 0x10000 (from 0x1000 on when there are no entries): see local-updates.ts
 *
 * (wowdev.wiki CASC, CascLib, TACTLib; no real .idx file was at hand)
 */

import { formatError } from '../../core/errors.ts';
import { hashLittle, hashLittle2 } from '../../core/jenkins.ts';
import { ByteReader, repeatable } from '../../core/reader.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import { ByteWriter } from '../../core/writer.ts';
import type { Format } from '../format.ts';
import { decodeLocalUpdates, encodeLocalUpdates, type LocalUpdate } from './local-updates.ts';

/** Told by its header of 16 bytes, its version and bucket. */
export const localIndexFormat: Format = {
  name: 'local index',
  matches(head) {
    if (head.length < 0x28) return false;
    const reader = new ByteReader(head, 'local index');
    if (reader.u32le() !== 16) return false;
    reader.skip(4);
    return reader.u16le() === 7 && reader.u8() < bucketCount;
  },
};

/** Leading bytes of an ekey that an installation knows it by. */
export const localKeySize = 9;
/** The number of .idx files of an installation. */
export const bucketCount = 16;

const what = 'local index';
const headerSize = 16;
const entriesOffset = 0x28;
/** Deleted, or not on this disk. */
const goneStatuses: readonly number[] = [3, 6, 7];
const rowSize = 18;
const offsetBits = 30;
const offsetSpan = 2 ** offsetBits;
const sectionSize = 0x1_0000;
const updateSize = 0x7800;
/** 256 data files of 1 GiB. */
const usualLargestPlace = 0x40_0000_0000n;

/** An entry, and where it lies. */
export interface LocalEntry {
  /** The first 9 bytes of the ekey; a view. */
  readonly key: Uint8Array;
  /** Number of the data file. */
  readonly archive: number;
  /** Of the local header. */
  readonly offset: number;
  /** Bytes with the local header. */
  readonly size: number;
}

/** The bucket of an ekey: which of the sixteen files knows it. */
export function bucketOf(ekey: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < localKeySize; i++) sum ^= ekey[i]!;
  return (sum & 0x0f) ^ (sum >> 4);
}

/** The parts of a file that say nothing of its entries. */
export interface LocalIndexShape {
  /** Size of the file in bytes: as large as its parts need it, at least. */
  readonly fileSize: number;
  /** Offset of its updates. It is heeded where there are no rows before them: else they begin at the next section. */
  readonly updatesOffset: number;
  /** The end of the last data file, as the header has it. */
  readonly largestPlace: bigint;
  /** Whether the hash of the rows is of all at once, not of one after the other. */
  readonly isHashedWhole: boolean;
}

/** An index to write: a shape that is left out is as the client makes it. */
export interface LocalIndexContent {
  readonly bucket: number;
  /** Its rows before the updates; in any order. */
  readonly sorted: Iterable<LocalEntry>;
  /** The changes since the rows were sorted, in the order in which they came. */
  readonly updates?: readonly LocalUpdate[];
  readonly shape?: Partial<LocalIndexShape>;
}

/** An index in memory, what {@link encodeLocalIndex} takes: its rows stay bytes. */
export class LocalIndex implements LocalIndexContent {
  readonly bucket: number;
  readonly sorted: Iterable<LocalEntry>;
  readonly updates: readonly LocalUpdate[];
  readonly shape: LocalIndexShape;
  readonly #rows: RecordTable;
  /** The last update of each key; undefined for what is gone. */
  readonly #updates = new Map<string, Uint8Array | undefined>();

  constructor(bucket: number, rows: RecordTable, updates: readonly LocalUpdate[], shape: LocalIndexShape) {
    this.bucket = bucket;
    this.sorted = repeatable(function* () {
      for (const row of rows) yield decodeLocalRow(row);
    });
    this.updates = updates;
    this.shape = shape;
    this.#rows = rows;
    for (const { row, status } of updates) {
      this.#updates.set(nameOf(row.subarray(0, localKeySize)), goneStatuses.includes(status) ? undefined : row);
    }
  }

  /** Bytes that it takes in memory, about. */
  get bytes(): number {
    return this.#rows.count * rowSize;
  }

  /** The entry of an ekey (9 bytes or more), or undefined. */
  find(ekey: Uint8Array): LocalEntry | undefined {
    const key = ekey.subarray(0, localKeySize);
    const name = nameOf(key);
    const row = this.#updates.has(name) ? this.#updates.get(name) : this.#rows.find(key);
    return row && decodeLocalRow(row);
  }

  /** Every entry that is there, those of the updates last. */
  *[Symbol.iterator](): Generator<LocalEntry> {
    const changed = this.#updates.size > 0;
    for (const row of this.#rows) {
      if (!changed || !this.#updates.has(nameOf(row.subarray(0, localKeySize)))) yield decodeLocalRow(row);
    }
    for (const row of this.#updates.values()) if (row !== undefined) yield decodeLocalRow(row);
  }
}

/** A key as a text that a map can have for a name. */
function nameOf(key: Uint8Array): string {
  return String.fromCharCode(...key);
}

/** Reads a row of 18 bytes. */
export function decodeLocalRow(row: Uint8Array): LocalEntry {
  const view = new DataView(row.buffer, row.byteOffset, rowSize);
  const low = view.getUint32(10);
  return {
    key: row.subarray(0, localKeySize),
    archive: row[9]! * 4 + (low >>> offsetBits),
    offset: low % offsetSpan,
    size: view.getUint32(14, true),
  };
}

/** Reads an index of version 7 and checks its hashes. Throws E_FORMAT… when it is none, is cut, or a hash differs. */
export function decodeLocalIndex(bytes: Uint8Array): LocalIndex {
  const reader = new ByteReader(bytes, what);
  const { bucket, largestPlace } = decodeHeader(reader);
  reader.seek(entriesOffset - 8);
  const size = reader.u32le();
  const hash = reader.u32le();
  if (size % rowSize !== 0) {
    throw formatError('E_FORMAT', what, 'its rows do not fill their space', { offset: 0x20, found: size });
  }
  const rows = reader.take(size);
  const isHashedWhole = hash !== chainedHash(rows);
  if (isHashedWhole && hash !== hashLittle(rows)) {
    throw formatError('E_FORMAT_CHECKSUM', what, 'its rows have another hash', { offset: entriesOffset });
  }
  const starts = size === 0 ? [0x1000, sectionSize] : [upTo(reader.pos, sectionSize)];
  const { updates, start } = decodeLocalUpdates(bytes, starts);
  const shape = { fileSize: bytes.length, updatesOffset: start, largestPlace, isHashedWhole };
  return new LocalIndex(bucket, new RecordTable(rows, rowSize), updates, shape);
}

function decodeHeader(reader: ByteReader): { bucket: number; largestPlace: bigint } {
  if (reader.u32le() !== headerSize) throw formatError('E_FORMAT_MAGIC', what, 'no header of 16 bytes');
  const hash = reader.u32le();
  const bytes = reader.take(headerSize);
  if (hashLittle(bytes) !== hash) {
    throw formatError('E_FORMAT_CHECKSUM', what, 'its header has another hash', { offset: 8 });
  }
  const header = new ByteReader(bytes, what);
  header.version('u16le', 7);
  const bucket = header.u8();
  const [extra, ...widths] = [header.u8(), header.u8(), header.u8(), header.u8(), header.u8()];
  if (bucket >= bucketCount || extra !== 0 || widths.join(' ') !== `4 5 ${localKeySize} ${offsetBits}`) {
    const found = [bucket, extra, ...widths].join(' ');
    throw formatError('E_FORMAT_VERSION', what, 'unknown widths', { offset: 10, expected: '0-15 0 4 5 9 30', found });
  }
  return { bucket, largestPlace: header.u64leBig() };
}

function upTo(offset: number, unit: number): number {
  return Math.ceil(offset / unit) * unit;
}

function chainedHash(rows: Uint8Array): number {
  let state = { c: 0, b: 0 };
  for (let at = 0; at < rows.length; at += rowSize) {
    state = hashLittle2(rows.subarray(at, at + rowSize), state.c, state.b);
  }
  return state.c;
}

/**
 * Writes an index. Updates fill their pages; pages that the client left before they were full are not kept as they were.
 * @throws E_FORMAT_RANGE for a place, size or key that does not fit, or belongs to another bucket
 */
export function encodeLocalIndex({ bucket, sorted, updates = [], shape = {} }: LocalIndexContent): Uint8Array {
  const entries = [...sorted].sort((a, b) => Buffer.compare(a.key, b.key));
  const rows = new ByteWriter(entries.length * rowSize);
  for (const entry of entries) rows.raw(encodeLocalRow(entry, bucket));
  const body = rows.bytes();
  const widths = Uint8Array.of(bucket, 0, 4, 5, localKeySize, offsetBits);
  const { largestPlace = usualLargestPlace, isHashedWhole = false } = shape;
  const head = new ByteWriter(headerSize).u16le(7).raw(widths).u64le(largestPlace).bytes();
  const behindRows = upTo(entriesOffset + body.length, sectionSize);
  const updatesOffset = body.length > 0 ? behindRows : (shape.updatesOffset ?? behindRows);
  const { fileSize = updatesOffset + updateSize } = shape;
  const writer = new ByteWriter(fileSize);
  writer.u32le(headerSize).u32le(hashLittle(head)).raw(head).zeros(8);
  const hash = isHashedWhole ? hashLittle(body) : chainedHash(body);
  writer.u32le(body.length).u32le(hash).raw(body);
  if (updates.length > 0) writer.padTo(updatesOffset).raw(encodeLocalUpdates(updates));
  return writer.padTo(fileSize).bytes();
}

/** Writes one row: key, place, size; 18 bytes. @throws E_FORMAT_RANGE as {@link encodeLocalIndex} */
export function encodeLocalRow({ key, archive, offset, size }: LocalEntry, bucket: number): Uint8Array {
  if (key.length !== localKeySize || bucketOf(key) !== bucket) {
    throw formatError('E_FORMAT_RANGE', what, `a key that is none of bucket ${bucket}`);
  }
  if (!(archive >= 0 && archive < 1024 && offset >= 0 && offset < offsetSpan && size >= 0 && size <= 0xffff_ffff)) {
    throw formatError('E_FORMAT_RANGE', what, `${size} bytes at ${offset} in data file ${archive} do not fit a row`);
  }
  const place = archive * offsetSpan + offset;
  return new ByteWriter(rowSize).raw(key).uint(place, 5).u32le(size).bytes();
}
