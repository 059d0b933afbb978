import { aesBlockSize, alignToBlock } from '../../../codecs/ciphers/aes.ts';
import { inflatePieces } from '../../../codecs/compression/inflate.ts';
import { formatError } from '../../../core/errors.ts';
import { pieceSize, readPieces, slicePieces } from '../../../files/pieces.ts';
import type { FillingSource, ScratchPool } from '../../../files/scratch.ts';
import type { EntryHash } from './entry-hash.ts';
import { type BlockRange, blockRanges, dataOffset, type EntryRecord, type RecordFormat } from './entry-record.ts';
import { type BlockDecoder, blockDecoder } from './methods.ts';

/** Decoded blocks larger than this are not held in memory: zlib is then decoded as a stream, others are refused. */
const maxBlockSize = 16 << 20;

/** Decrypts bytes of an entry's data; `position` is their offset in the data. */
export type EntryCipher = (bytes: Uint8Array, position: number) => Uint8Array;

/** An entry that is to be read. */
export interface EntryAccess {
  source: FillingSource;
  format: RecordFormat;
  record: EntryRecord;
  /** Name, for errors, and name of the compression method: nothing is decoded before somebody asks. */
  row: { readonly name: string; readonly method: string };
  /** Undefined for an entry that is not encrypted. */
  cipher: EntryCipher | undefined;
  /** Path of a module that decodes Oodle. */
  oodle: string | undefined;
  scratches: ScratchPool;
}

/** Decoded bytes of an entry. */
export interface DecodedRange {
  offset: number;
  size: number;
}

/**
 * The decoded bytes of an entry, or part of them, in pieces of bounded size.
 * @param hash told every stored byte in order, when the whole entry is read
 * @throws E_UNSUPPORTED for a method that cannot be decoded, E_FORMAT… for damage
 */
export async function* readEntry(
  access: EntryAccess,
  range: DecodedRange,
  hash?: EntryHash,
): AsyncGenerator<Uint8Array> {
  const { record } = access;
  if (range.size === 0) return;
  if (record.method === 0) yield* readPlain(access, range, hash);
  else if (record.blockCount === 1 && record.size > maxBlockSize) yield* readLargeBlock(access, range, hash);
  else yield* readBlocks(access, { ...range, decode: await blockDecoder(access.row.method, access.oodle), hash });
}

async function* readPlain(
  { source, record, cipher }: EntryAccess,
  { offset, size }: DecodedRange,
  hash: EntryHash | undefined,
): AsyncGenerator<Uint8Array> {
  const start = cipher === undefined ? offset : offset - (offset % aesBlockSize);
  const end = cipher === undefined ? offset + size : alignToBlock(offset + size);
  let at = start;
  for await (const stored of readPieces(source, dataOffset(record) + start, end - start)) {
    hash?.update(stored, at);
    const plain = cipher === undefined ? stored : cipher(stored, at);
    yield plain.subarray(Math.max(offset - at, 0), Math.min(offset + size - at, plain.length));
    at += stored.length;
  }
}

/** A block that is too large to hold; only zlib is met so, in versions before blocks. */
async function* readLargeBlock(
  access: EntryAccess,
  range: DecodedRange,
  hash: EntryHash | undefined,
): AsyncGenerator<Uint8Array> {
  const { record, format, row } = access;
  if (row.method !== 'zlib') {
    const facts = { expected: `at most ${maxBlockSize}` };
    throw formatError('E_FORMAT_RANGE', row.name, `a block of ${record.size} bytes`, facts);
  }
  for (const block of blockRanges(record, format)) {
    const stored = readBlockPieces(access, block, hash);
    const pieces = inflatePieces(stored, { size: record.size, maxSize: record.size, what: row.name });
    yield* slicePieces(pieces, range.offset, range.size);
  }
}

async function* readBlockPieces(
  { source, record, cipher }: EntryAccess,
  { start, end }: BlockRange,
  hash: EntryHash | undefined,
): AsyncGenerator<Uint8Array> {
  let at = start;
  const storedEnd = cipher === undefined ? end : start + alignToBlock(end - start);
  for await (const stored of readPieces(source, start, storedEnd - start)) {
    const position = at - dataOffset(record);
    hash?.update(stored, position);
    const plain = cipher === undefined ? stored : cipher(stored, position);
    yield plain.subarray(0, Math.min(end - at, plain.length));
    at += stored.length;
  }
}

interface BlockWork extends DecodedRange {
  decode: BlockDecoder;
  hash: EntryHash | undefined;
}

async function* readBlocks(access: EntryAccess, work: BlockWork): AsyncGenerator<Uint8Array> {
  const { source, record, cipher, row, scratches } = access;
  const { offset, size } = work;
  const scratch = scratches.take();
  try {
    for (const group of groupBlocks(access, work)) {
      const { start, end } = group;
      const stored = await scratch.read(source, start, end - start);
      work.hash?.update(stored, start - dataOffset(record));
      for (const block of group.blocks) {
        const bytes = stored.subarray(block.start - start, block.storedEnd - start);
        const plain = cipher === undefined ? bytes : cipher(bytes, block.start - dataOffset(record));
        const decoded = work.decode(plain.subarray(0, block.end - block.start), block.size, row.name);
        yield decoded.subarray(Math.max(offset - block.at, 0), Math.min(offset + size - block.at, decoded.length));
      }
    }
  } finally {
    scratches.give(scratch);
  }
}

/** A block with what it decodes to. */
interface PlacedBlock extends BlockRange {
  /** With padding. */
  storedEnd: number;
  /** Offset of its decoded bytes in the entry, and how many there are. */
  at: number;
  size: number;
}

/** Blocks that lie one behind the other, and are read together. */
interface BlockGroup {
  start: number;
  end: number;
  blocks: PlacedBlock[];
}

/** The blocks that have some decoded bytes. @throws E_FORMAT… for blocks that cannot be */
export function* groupBlocks(access: EntryAccess, work: DecodedRange): Generator<BlockGroup> {
  let group: BlockGroup | undefined;
  for (const block of placeBlocks(access, work.offset)) {
    if (block.at >= work.offset + work.size) break;
    if (group !== undefined && (block.start !== group.end || block.storedEnd - group.start > pieceSize)) {
      yield group;
      group = undefined;
    }
    group ??= { start: block.start, end: block.start, blocks: [] };
    group.blocks.push(block);
    group.end = block.storedEnd;
  }
  if (group !== undefined) yield group;
}

/** The blocks from the one on that holds an offset of decoded bytes, each checked, with the place of its decoded bytes. */
function* placeBlocks(access: EntryAccess, offset: number): Generator<PlacedBlock> {
  const { source, record, format, cipher } = access;
  const first = record.blockCount > 1 && record.blockSize > 0 ? Math.floor(offset / record.blockSize) : 0;
  let at = first * record.blockSize;
  for (const { start, end } of blockRanges(record, format, first)) {
    const size = record.blockCount === 1 ? record.size : Math.min(record.blockSize, record.size - at);
    const storedEnd = cipher === undefined ? end : start + alignToBlock(end - start);
    const isSane = end >= start && storedEnd <= source.size && size > 0 && size <= maxBlockSize;
    if (!isSane || end - start > maxStored(size)) {
      const problem = `a block of ${end - start} bytes at ${start} for ${size} decoded ones`;
      throw formatError('E_FORMAT_RANGE', access.row.name, problem);
    }
    yield { start, end, storedEnd, at, size };
    at += size;
  }
  if (at !== record.size) {
    const facts = { expected: record.size, found: at };
    throw formatError('E_FORMAT_TRUNCATED', access.row.name, 'its blocks are too few', facts);
  }
}

/** No method makes more than this of bytes that do not compress. */
function maxStored(size: number): number {
  return size * 2 + 0x1000;
}
