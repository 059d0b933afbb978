import { formatError, PakratError } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import { type EntryTable, entryTable } from '../../core/tables/entry-table.ts';
import type { RecordTable } from '../../core/tables/record-table.ts';
import { ByteWriter } from '../../core/writer.ts';
import type { Format } from '../format.ts';

/*
 * The patch index that newer build configs name: the patches between encoded files, in one table. Little-endian.
 *
 *   u32  header size
 *   u32  version (1)
 *   u32  size of the whole file
 *   u16  size of what follows here: one zero byte is all that was seen
 *   u32  number of blocks
 *   blocks × { u32 type, u32 size }; the blocks follow in this order
 *
 *   type 1   settings, of unknown meaning
 *   type 2   u32 entries, u8 key size, entries
 *   type 8   u8 3, u8 key size, u16 offset of the entries in the block (14), u32 entries, u32 62, u8 1, u8 2,
 *            entries: a copy of those of type 2
 *   type 6   and 10 have an espec table too; never seen, not read
 *
 *   entry    source ekey, u32 source size, patch ekey, u32 patch size, u32 patch size again, u8 1, target ekey
 *
 * Which key of an entry is which is told by the sizes and by how often keys recur: on the real file the keys in the middle
 * are of small objects and all differ, while up to five entries share the last one. (Other readers take the middle key for
 * the target and the last for the patch.)
 * Sources: cascette-rs for the layout; checked on a real index of WoW Classic Era 1.15.8.65989.
 */

const what = 'patch index';

/** Told by its version and the size that it says it has. */
export const patchIndexFormat: Format = {
  name: what,
  needsAll: true,
  matches(bytes) {
    if (bytes.length < 20) return false;
    const reader = new ByteReader(bytes, what, 4);
    return reader.u32le() === 1 && reader.u32le() === bytes.length;
  },
};

const blockTypes = { settings: 1, entries: 2, extended: 8 } as const;
const extendedHeaderSize = 14;

/** A patch from one encoded file to another. Keys are views of the index. */
export interface PatchIndexEntry {
  sourceEkey: Uint8Array;
  /** Decoded size of the older file. */
  sourceSize: number;
  /** Key of the patch object. */
  patchEkey: Uint8Array;
  patchSize: number;
  /** The second size; equal to the first in all that was seen. */
  patchDecodedSize: number;
  /** Unknown; 1 in all that was seen. */
  mark: number;
  targetEkey: Uint8Array;
}

/** A block of an index. */
export interface PatchIndexBlock {
  type: number;
  bytes: Uint8Array;
}

/** A decoded index, what {@link encodePatchIndex} takes. The entries stay bytes. */
export interface PatchIndex extends EntryTable<PatchIndexEntry> {
  keySize: number;
  /** The bytes of the header before the number of blocks. */
  extraHeader: Uint8Array;
  blocks: readonly PatchIndexBlock[];
}

const entrySize = (keySize: number): number => 3 * keySize + 13;

function checkEqual(name: string, expected: number, found: number): void {
  if (found !== expected) throw formatError('E_FORMAT', what, `wrong ${name}`, { expected, found });
}

function readHeader(reader: ByteReader) {
  const headerSize = reader.u32le();
  reader.version('u32le', 1);
  checkEqual('file size', reader.bytes.length, reader.u32le());
  const extraHeader = reader.take(reader.u16le());
  const count = reader.count(reader.u32le(), 8);
  const sizes = Array.from({ length: count }, () => ({ type: reader.u32le(), size: reader.u32le() }));
  checkEqual('header size', reader.pos, headerSize);
  const total = sizes.reduce((sum, { size }) => sum + size, headerSize);
  checkEqual('sum of block sizes', reader.bytes.length, total);
  return { extraHeader, blocks: sizes.map(({ type, size }) => ({ type, bytes: reader.take(size) })) };
}

function readEntries(block: ByteReader, count: number, keySize: number): RecordTable {
  if (keySize < 1 || keySize > 16) {
    throw formatError('E_FORMAT_RANGE', what, 'key size', { expected: '1 to 16', found: keySize });
  }
  const table = block.table(count, entrySize(keySize));
  block.end();
  return table;
}

/** Entries of the block of type 2, or of its copy where there is no such block. */
function readTable(blocks: readonly PatchIndexBlock[]): { keySize: number; rows: RecordTable } {
  const blockOf = (type: number): ByteReader | undefined => {
    const block = blocks.find((candidate) => candidate.type === type);
    return block && new ByteReader(block.bytes, `${what} block ${type}`);
  };
  const plain = blockOf(blockTypes.entries);
  if (plain !== undefined) {
    const count = plain.u32le();
    const keySize = plain.u8();
    return { keySize, rows: readEntries(plain, count, keySize) };
  }
  const extended = blockOf(blockTypes.extended);
  if (extended === undefined) {
    const types = blocks.map(({ type }) => type).join(', ') || 'none';
    throw new PakratError('E_UNSUPPORTED', `${what}: no block of entries that is known (types: ${types})`);
  }
  checkEqual('version of block 8', 3, extended.u8());
  const keySize = extended.u8();
  const offset = extended.u16le();
  const count = extended.u32le();
  extended.seek(offset);
  return { keySize, rows: readEntries(extended, count, keySize) };
}

/**
 * Decodes a patch index.
 * @throws E_FORMAT_VERSION; E_FORMAT for sizes that do not agree; E_FORMAT_RANGE for key sizes; E_FORMAT_TRUNCATED;
 *   E_UNSUPPORTED when there is no table of entries that is known
 */
export function decodePatchIndex(bytes: Uint8Array): PatchIndex {
  const { extraHeader, blocks } = readHeader(new ByteReader(bytes, what));
  const { keySize, rows } = readTable(blocks);
  return { keySize, extraHeader, blocks, ...entryTable(rows, (row) => decodeEntry(row, keySize)) };
}

function decodeEntry(row: Uint8Array, keySize: number): PatchIndexEntry {
  const reader = new ByteReader(row, what);
  return {
    sourceEkey: reader.take(keySize),
    sourceSize: reader.u32le(),
    patchEkey: reader.take(keySize),
    patchSize: reader.u32le(),
    patchDecodedSize: reader.u32le(),
    mark: reader.u8(),
    targetEkey: reader.take(keySize),
  };
}

/** An index to write. */
export interface PatchIndexContent {
  /** Default 16. */
  keySize?: number;
  extraHeader?: Uint8Array;
  /** The blocks; those of types 2 and 8 are made of the entries, whatever their bytes. Default: as on the real file, types 1, 2 and 8. */
  blocks?: readonly PatchIndexBlock[];
  entries: Iterable<PatchIndexEntry>;
}

const seenBlocks: readonly PatchIndexBlock[] = [
  { type: blockTypes.settings, bytes: Uint8Array.of(3, 0, 0, 0, 0, 0x6e, 0) },
  { type: blockTypes.entries, bytes: new Uint8Array() },
  { type: blockTypes.extended, bytes: new Uint8Array() },
];

function fixed(bytes: Uint8Array, size: number): Uint8Array {
  if (bytes.length === size) return bytes;
  throw formatError('E_FORMAT_RANGE', what, 'key of a wrong size', { expected: size, found: bytes.length });
}

/**
 * Writes a patch index, the mirror of {@link decodePatchIndex}. The head of a block of type 8 is written as it was seen.
 * @throws E_FORMAT_RANGE for keys of a wrong size
 */
export function encodePatchIndex(content: PatchIndexContent): Uint8Array {
  const { keySize = 16, extraHeader = new Uint8Array(1), blocks = seenBlocks } = content;
  const table = new ByteWriter();
  let count = 0;
  for (const entry of content.entries) {
    table.raw(fixed(entry.sourceEkey, keySize)).u32le(entry.sourceSize);
    table.raw(fixed(entry.patchEkey, keySize)).u32le(entry.patchSize).u32le(entry.patchDecodedSize).u8(entry.mark);
    table.raw(fixed(entry.targetEkey, keySize));
    count++;
  }
  const made = new Map<number, Uint8Array>([
    [blockTypes.entries, new ByteWriter().u32le(count).u8(keySize).raw(table.bytes()).bytes()],
    [blockTypes.extended, extendedBlock(table.bytes(), count, keySize)],
  ]);
  const written = blocks.map(({ type, bytes }) => ({ type, bytes: made.get(type) ?? bytes }));
  const headerSize = 12 + 2 + extraHeader.length + 4 + blocks.length * 8;
  const size = written.reduce((sum, { bytes }) => sum + bytes.length, headerSize);
  const writer = new ByteWriter(size).u32le(headerSize).u32le(1).u32le(size).u16le(extraHeader.length).raw(extraHeader);
  writer.u32le(blocks.length);
  for (const { type, bytes } of written) writer.u32le(type).u32le(bytes.length);
  for (const { bytes } of written) writer.raw(bytes);
  return writer.bytes();
}

function extendedBlock(entries: Uint8Array, count: number, keySize: number): Uint8Array {
  const writer = new ByteWriter().u8(3).u8(keySize).u16le(extendedHeaderSize).u32le(count);
  writer.u32le(entrySize(keySize) + 1);
  return writer.u8(1).u8(2).raw(entries).bytes();
}
