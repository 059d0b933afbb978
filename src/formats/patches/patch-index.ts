import { formatError, PakratError } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import { ByteWriter } from '../../core/writer.ts';

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

/** A decoded index. The entries stay bytes: see {@link patchIndexEntry}. */
export interface PatchIndex {
  keySize: number;
  /** What stands in the header before the number of blocks. */
  extraHeader: Uint8Array;
  /** The block of type 1. */
  settings: Uint8Array;
  blocks: { type: number; offset: number; size: number }[];
  entries: RecordTable;
}

const entrySize = (keySize: number): number => 3 * keySize + 13;

function checkEqual(name: string, expected: number, found: number): void {
  if (found !== expected) throw formatError('E_FORMAT', what, `wrong ${name}`, { expected, found });
}

function readHeader(reader: ByteReader) {
  const headerSize = reader.u32le();
  const version = reader.u32le();
  if (version !== 1) {
    throw formatError('E_FORMAT_VERSION', what, 'unknown version', { offset: 4, expected: 1, found: version });
  }
  checkEqual('file size', reader.bytes.length, reader.u32le());
  const extraHeader = reader.take(reader.u16le());
  const count = reader.count(reader.u32le(), 8);
  const blocks: PatchIndex['blocks'] = [];
  let offset = headerSize;
  for (let i = 0; i < count; i++) {
    const block = { type: reader.u32le(), offset, size: reader.u32le() };
    blocks.push(block);
    offset += block.size;
  }
  checkEqual('header size', reader.pos, headerSize);
  checkEqual('sum of block sizes', reader.bytes.length, offset);
  return { extraHeader, blocks };
}

function readEntries(block: ByteReader, count: number, keySize: number): RecordTable {
  if (keySize < 1 || keySize > 16) {
    throw formatError('E_FORMAT_RANGE', what, 'key size', { expected: '1 to 16', found: keySize });
  }
  const stride = entrySize(keySize);
  const table = new RecordTable(block.take(block.count(count, stride) * stride), stride);
  block.end();
  return table;
}

/** Entries of the block of type 2, or of its copy where there is no such block. */
function readTable(bytes: Uint8Array, blocks: PatchIndex['blocks']): Pick<PatchIndex, 'keySize' | 'entries'> {
  const blockOf = (type: number): ByteReader | undefined => {
    const block = blocks.find((candidate) => candidate.type === type);
    return block && new ByteReader(bytes.subarray(block.offset, block.offset + block.size), `${what} block ${type}`);
  };
  const plain = blockOf(blockTypes.entries);
  if (plain !== undefined) {
    const count = plain.u32le();
    const keySize = plain.u8();
    return { keySize, entries: readEntries(plain, count, keySize) };
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
  return { keySize, entries: readEntries(extended, count, keySize) };
}

/**
 * Decodes a patch index.
 * @throws E_FORMAT_VERSION; E_FORMAT for sizes that do not agree; E_FORMAT_RANGE for key sizes; E_FORMAT_TRUNCATED;
 *   E_UNSUPPORTED when there is no table of entries that is known
 */
export function decodePatchIndex(bytes: Uint8Array): PatchIndex {
  const { extraHeader, blocks } = readHeader(new ByteReader(bytes, what));
  const settings = blocks.find(({ type }) => type === blockTypes.settings) ?? { offset: 0, size: 0 };
  return {
    ...readTable(bytes, blocks),
    extraHeader,
    settings: bytes.subarray(settings.offset, settings.offset + settings.size),
    blocks,
  };
}

/** Entry `row` of an index, 0 to `entries.count` − 1. */
export function patchIndexEntry(index: PatchIndex, row: number): PatchIndexEntry {
  const reader = new ByteReader(index.entries.at(row), what);
  return {
    sourceEkey: reader.take(index.keySize),
    sourceSize: reader.u32le(),
    patchEkey: reader.take(index.keySize),
    patchSize: reader.u32le(),
    patchDecodedSize: reader.u32le(),
    mark: reader.u8(),
    targetEkey: reader.take(index.keySize),
  };
}

/** An index to encode, in the one form that was seen: blocks of types 1, 2 and 8. */
export interface PatchIndexContent {
  /** Default 16. */
  keySize?: number;
  /** The block of type 1. Default: as on the real file. */
  settings?: Uint8Array;
  entries: Iterable<PatchIndexEntry>;
}

const seenSettings = Uint8Array.of(3, 0, 0, 0, 0, 0x6e, 0);

function fixed(bytes: Uint8Array, size: number): Uint8Array {
  if (bytes.length === size) return bytes;
  throw formatError('E_FORMAT_RANGE', what, 'key of a wrong size', { expected: size, found: bytes.length });
}

/**
 * Writes a patch index, the mirror of {@link decodePatchIndex}.
 * @throws E_FORMAT_RANGE for keys of a wrong size
 */
export function encodePatchIndex(content: PatchIndexContent): Uint8Array {
  const { keySize = 16, settings = seenSettings } = content;
  const table = new ByteWriter();
  let count = 0;
  for (const entry of content.entries) {
    table.raw(fixed(entry.sourceEkey, keySize)).u32le(entry.sourceSize);
    table.raw(fixed(entry.patchEkey, keySize)).u32le(entry.patchSize).u32le(entry.patchDecodedSize).u8(entry.mark);
    table.raw(fixed(entry.targetEkey, keySize));
    count++;
  }
  const entries = table.bytes();
  const plain = new ByteWriter().u32le(count).u8(keySize).raw(entries).bytes();
  const extended = new ByteWriter().u8(3).u8(keySize).u16le(extendedHeaderSize).u32le(count);
  extended
    .u32le(entrySize(keySize) + 1)
    .u8(1)
    .u8(2)
    .raw(entries);
  const blocks = [
    { type: blockTypes.settings, bytes: settings },
    { type: blockTypes.entries, bytes: plain },
    { type: blockTypes.extended, bytes: extended.bytes() },
  ];
  const headerSize = 12 + 2 + 1 + 4 + blocks.length * 8;
  const size = blocks.reduce((sum, { bytes }) => sum + bytes.length, headerSize);
  const writer = new ByteWriter(size).u32le(headerSize).u32le(1).u32le(size).u16le(1).u8(0).u32le(blocks.length);
  for (const { type, bytes } of blocks) writer.u32le(type).u32le(bytes.length);
  for (const { bytes } of blocks) writer.raw(bytes);
  return writer.bytes();
}
