import { formatError, PakratError } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import { ByteWriter } from '../../core/writer.ts';
import { ContentFlags } from '../locale.ts';

/*
 * The root manifest of World of Warcraft: file data id, locale and content flags → ckey. Everything is little-endian.
 *
 *   headerless (before 8.2)   blocks from the first byte on
 *   tsfm0 (8.2)               "TSFM"  u32 total  u32 named
 *   tsfm1 (10.1.7)            "TSFM"  u32 header size (24)  u32 version (1)  u32 total  u32 named  u32 zero
 *   tsfm2 (11.1)              the same, version 2
 *
 *   block header, 12 bytes    u32 rows  u32 content flags  u32 locale flags
 *   block header of tsfm2,    u32 rows  u32 locale flags  u32 c1  u32 c2  u8 c3
 *     17 bytes                  content flags = c1 | c2 | c3 << 17
 *   rows × u32                id of the row − id of the row before − 1; "before" is −1 at the start of a block
 *   headerless                rows × { ckey (16), u64 name hash }
 *   tsfm*                     rows × ckey (16), then rows × u64 name hash
 *
 * The hashes of a tsfm block are absent when its flags say noNameHash; in tsfm0 only if, besides, total ≠ named.
 * Blocks end exactly at the end of the file. `total` counts the rows of the whole root; a root that was cut behind
 * a whole block still reads, so it is not compared with the rows that are there.
 * Sources: wowdev.wiki TACT; checked on real roots of 1.13.7 (headerless) and 11.2.7 (tsfm2).
 */

const what = 'WoW root';
const ckeySize = 16;
const hashSize = 8;
/** Real roots have a few hundred blocks; without a bound, a file of empty blocks would cost memory many times its size. */
const maxBlocks = 65_536;

/** The four forms of the root, oldest first. */
export type WowRootFormat = 'headerless' | 'tsfm0' | 'tsfm1' | 'tsfm2';

/** Rows that share their flags. Offsets are from the start of the root; row `i` of the block is at offset + i × stride. */
export interface WowRootBlock {
  contentFlags: number;
  localeFlags: number;
  /** Number of rows. */
  count: number;
  /** Number of the block's first row in the whole root. */
  firstRow: number;
  /** The u32 id deltas, stride 4. */
  deltaOffset: number;
  ckeyOffset: number;
  ckeyStride: number;
  /** The u64 name hashes, or -1 when the block has none. */
  hashOffset: number;
  hashStride: number;
  /** c1, c2 and c3 as they stood (tsfm2 only): other splits of the same content flags are possible. */
  contentParts?: readonly [number, number, number];
}

/** A decoded root: where its blocks are. The rows stay bytes. */
export interface WowRoot {
  format: WowRootFormat;
  /** Rows of the whole root, as the header says (tsfm* only). */
  total?: number;
  /** Rows with a name hash, as the header says (tsfm* only). */
  named?: number;
  /** Rows that are there. */
  rowCount: number;
  blocks: WowRootBlock[];
  bytes: Uint8Array;
}

interface Header {
  format: WowRootFormat;
  total?: number;
  named?: number;
}

function hasMagic(bytes: Uint8Array): boolean {
  return bytes[0] === 0x54 && bytes[1] === 0x53 && bytes[2] === 0x46 && bytes[3] === 0x4d;
}

function readHeader(reader: ByteReader): Header {
  if (!hasMagic(reader.bytes)) return { format: 'headerless' };
  reader.magic('TSFM');
  const first = reader.u32le();
  const second = reader.u32le();
  // A tsfm0 root of just 24 rows starts with a 24 too; but there the zero would be the locales of its first block.
  const sized = first === 24 && reader.remaining >= 12 && new ByteReader(reader.bytes, what, 20).u32le() === 0;
  if (!sized) return { format: 'tsfm0', total: first, named: second };
  if (second !== 1 && second !== 2) {
    throw formatError('E_FORMAT_VERSION', what, 'unknown version', { offset: 8, expected: '1 or 2', found: second });
  }
  const total = reader.u32le();
  const named = reader.u32le();
  reader.skip(4);
  return { format: second === 1 ? 'tsfm1' : 'tsfm2', total, named };
}

function hasHashes(header: Header, contentFlags: number): boolean {
  if (header.format === 'headerless' || (contentFlags & ContentFlags.noNameHash) === 0) return true;
  return header.format === 'tsfm0' && header.total === header.named;
}

/** content = c1 | c2 | c3 << 17, unsigned. */
function joinContentFlags([c1, c2, c3]: readonly [number, number, number]): number {
  return (c1 | c2 | (c3 << 17)) >>> 0;
}

/** The split that real roots have: c3 holds bits 17 to 24, c2 those above, c1 those below. */
function splitContentFlags(flags: number): [number, number, number] {
  return [flags & 0x1ffff, (flags & 0xfe000000) >>> 0, (flags >>> 17) & 0xff];
}

function readBlockHeader(reader: ByteReader, format: WowRootFormat) {
  const count = reader.u32le();
  if (format !== 'tsfm2') return { count, contentFlags: reader.u32le(), localeFlags: reader.u32le() };
  const localeFlags = reader.u32le();
  const contentParts = [reader.u32le(), reader.u32le(), reader.u8()] as const;
  return { count, contentFlags: joinContentFlags(contentParts), localeFlags, contentParts };
}

function readBlock(reader: ByteReader, header: Header, firstRow: number): WowRootBlock {
  const start = readBlockHeader(reader, header.format);
  const hashed = hasHashes(header, start.contentFlags);
  const count = reader.count(start.count, 4 + ckeySize + (hashed ? hashSize : 0));
  const deltaOffset = reader.pos;
  const ckeyOffset = deltaOffset + count * 4;
  const interleaved = header.format === 'headerless';
  const hashOffset = ckeyOffset + (interleaved ? ckeySize : count * ckeySize);
  reader.skip(count * (4 + ckeySize + (hashed ? hashSize : 0)));
  return {
    ...start,
    firstRow,
    deltaOffset,
    ckeyOffset,
    ckeyStride: interleaved ? ckeySize + hashSize : ckeySize,
    hashOffset: hashed ? hashOffset : -1,
    hashStride: interleaved ? ckeySize + hashSize : hashSize,
  };
}

/**
 * Finds the blocks of a WoW root of any form; rows are not looked at.
 * @throws E_FORMAT_TRUNCATED when the blocks do not end at the end of the bytes, E_FORMAT_VERSION for an unknown version,
 *   E_FORMAT_RANGE for more than 65,536 blocks
 */
export function decodeWowRoot(bytes: Uint8Array): WowRoot {
  const reader = new ByteReader(bytes, what);
  const header = readHeader(reader);
  const blocks: WowRootBlock[] = [];
  let rowCount = 0;
  // Without a header, no block means no root at all.
  while (reader.remaining > 0 || (blocks.length === 0 && header.format === 'headerless')) {
    if (blocks.length === maxBlocks) {
      throw formatError('E_FORMAT_RANGE', what, `more than ${maxBlocks} blocks`, { offset: reader.pos });
    }
    const block = readBlock(reader, header, rowCount);
    rowCount += block.count;
    blocks.push(block);
  }
  return { ...header, rowCount, blocks, bytes };
}

/** True when the bytes are a WoW root: by the magic, or, for the form without one, when its blocks end where the bytes end. */
export function isWowRoot(bytes: Uint8Array): boolean {
  if (hasMagic(bytes)) return true;
  try {
    const root = decodeWowRoot(bytes);
    return root.rowCount > 0 && root.blocks.every((block) => block.count === 0 || block.localeFlags !== 0);
  } catch {
    return false;
  }
}

/**
 * The file data id of every row, in row order.
 * @throws E_FORMAT_RANGE when an id passes 2^32 − 1
 */
export function fillFileDataIds(root: WowRoot): Uint32Array {
  const ids = new Uint32Array(root.rowCount);
  const view = new DataView(root.bytes.buffer, root.bytes.byteOffset, root.bytes.byteLength);
  for (const block of root.blocks) {
    let id = -1;
    for (let i = 0; i < block.count; i++) {
      const offset = block.deltaOffset + i * 4;
      id += view.getUint32(offset, true) + 1;
      if (id > 0xffffffff) throw formatError('E_FORMAT_RANGE', what, 'file data id beyond 32 bits', { offset });
      ids[block.firstRow + i] = id;
    }
  }
  return ids;
}

/**
 * The block that holds a row.
 * @throws E_NOT_FOUND when the root has no such row
 */
export function rowBlock(root: WowRoot, row: number): WowRootBlock {
  if (!(row >= 0 && row < root.rowCount)) {
    throw new PakratError('E_NOT_FOUND', `${what} has no row ${row}`, { data: { row, rows: root.rowCount } });
  }
  let low = 0;
  let high = root.blocks.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (root.blocks[middle]!.firstRow <= row) low = middle;
    else high = middle;
  }
  return root.blocks[low]!;
}

/** The ckey of a row: a view of 16 bytes. Throws as {@link rowBlock}. */
export function rowCkey(root: WowRoot, row: number): Uint8Array {
  const block = rowBlock(root, row);
  const offset = block.ckeyOffset + (row - block.firstRow) * block.ckeyStride;
  return root.bytes.subarray(offset, offset + ckeySize);
}

/** The name hash of a row, 8 bytes big-endian as core's `nameHash` gives it, or undefined. Throws as {@link rowBlock}. */
export function rowNameHash(root: WowRoot, row: number): Uint8Array | undefined {
  const block = rowBlock(root, row);
  if (block.hashOffset < 0) return undefined;
  const offset = block.hashOffset + (row - block.firstRow) * block.hashStride;
  return root.bytes.slice(offset, offset + hashSize).reverse();
}

/** One file of a block to encode. */
export interface WowRootRow {
  fileDataId: number;
  /** 16 bytes. */
  ckey: Uint8Array;
  /** 8 bytes big-endian. */
  nameHash?: Uint8Array | undefined;
}

/** A block to encode; rows in ascending order of their ids. */
export interface WowRootBlockContent {
  contentFlags: number;
  localeFlags: number;
  /** How tsfm2 shall split the content flags; as real roots do when absent. */
  contentParts?: readonly [number, number, number] | undefined;
  rows: readonly WowRootRow[];
}

/** A root to encode. `total` and `named` are counted when absent. */
export interface WowRootContent {
  format: WowRootFormat;
  total?: number | undefined;
  named?: number | undefined;
  blocks: readonly WowRootBlockContent[];
}

function countRows(content: WowRootContent): Required<Pick<WowRootContent, 'total' | 'named'>> {
  let total = 0;
  let named = 0;
  for (const { rows, contentFlags } of content.blocks) {
    total += rows.length;
    if ((contentFlags & ContentFlags.noNameHash) === 0) named += rows.length;
  }
  return { total: content.total ?? total, named: content.named ?? named };
}

function writeHeader(writer: ByteWriter, format: WowRootFormat, total: number, named: number): void {
  if (format === 'headerless') return;
  writer.text('TSFM');
  if (format !== 'tsfm0') writer.u32le(24).u32le(format === 'tsfm1' ? 1 : 2);
  writer.u32le(total).u32le(named);
  if (format !== 'tsfm0') writer.u32le(0);
}

function writeBlockHeader(writer: ByteWriter, format: WowRootFormat, block: WowRootBlockContent): void {
  const { contentFlags, localeFlags, rows } = block;
  writer.u32le(rows.length);
  if (format !== 'tsfm2') {
    writer.u32le(contentFlags).u32le(localeFlags);
    return;
  }
  const parts = block.contentParts ?? splitContentFlags(contentFlags);
  if (joinContentFlags(parts) !== contentFlags) {
    throw formatError('E_FORMAT_RANGE', what, `content parts ${parts} do not make the flags ${contentFlags}`);
  }
  writer.u32le(localeFlags).u32le(parts[0]).u32le(parts[1]).u8(parts[2]);
}

function writeDeltas(writer: ByteWriter, rows: readonly WowRootRow[]): void {
  let before = -1;
  for (const { fileDataId } of rows) {
    if (!(Number.isInteger(fileDataId) && fileDataId > before && fileDataId <= 0xffffffff)) {
      throw formatError('E_FORMAT_RANGE', what, `file data id ${fileDataId} after ${before}: ids must ascend`);
    }
    writer.u32le(fileDataId - before - 1);
    before = fileDataId;
  }
}

function fixedBytes(bytes: Uint8Array, size: number, name: string): Uint8Array {
  if (bytes.length === size) return bytes;
  throw formatError('E_FORMAT_RANGE', what, `${name} of a wrong size`, { expected: size, found: bytes.length });
}

const noHash = new Uint8Array(hashSize);

/** A row without a hash gets zeros, where the form leaves no way to say "none". */
function hashBytes(row: WowRootRow, needed: boolean): Uint8Array {
  if (row.nameHash !== undefined) return fixedBytes(row.nameHash, hashSize, 'name hash').slice().reverse();
  if (!needed) return noHash;
  throw formatError('E_FORMAT_RANGE', what, `file data id ${row.fileDataId} has no name hash, but its block is named`);
}

/**
 * Writes a WoW root, the mirror of {@link decodeWowRoot}.
 * @throws E_FORMAT_RANGE for ids that do not ascend, keys or hashes of a wrong size, a row without a hash in a named tsfm block
 */
export function encodeWowRoot(content: WowRootContent): Uint8Array {
  const { format } = content;
  const { total, named } = countRows(content);
  const writer = new ByteWriter(64 * 1024);
  writeHeader(writer, format, total, named);
  for (const block of content.blocks) {
    writeBlockHeader(writer, format, block);
    writeDeltas(writer, block.rows);
    const flagged = (block.contentFlags & ContentFlags.noNameHash) !== 0;
    const needed = format !== 'headerless' && !flagged;
    for (const row of block.rows) {
      writer.raw(fixedBytes(row.ckey, ckeySize, 'ckey'));
      if (format === 'headerless') writer.raw(hashBytes(row, needed));
    }
    if (format !== 'headerless' && hasHashes({ format, total, named }, block.contentFlags)) {
      for (const row of block.rows) writer.raw(hashBytes(row, needed));
    }
  }
  return writer.bytes();
}
