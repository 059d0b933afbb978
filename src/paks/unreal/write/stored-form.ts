import { createHash } from 'node:crypto';
import { aesBlockSize, aesEcbEncrypt, alignToBlock } from '../../../codecs/ciphers/aes.ts';
import { deflateExactInSteps } from '../../../codecs/compression/deflate-exact.ts';
import { deflateBlock } from '../../../codecs/compression/inflate.ts';
import { equalBytes } from '../../../core/bytes.ts';
import { inBlocks, pieceSize } from '../../../files/pieces.ts';
import { changedWhilePacking, contentOf, type PackFile } from '../../packing.ts';
import type { PackPlan } from './pack-plan.ts';

/** Stored bytes are kept up to this size; larger files are made a second time when they are written. */
const maxKeptBytes = 4 << 20;
const zlibLevel = 6;
const concurrentBlocks = 8;

/** A file as it is stored in the PAK. The record in front of the data needs all of it, so it is known before. */
export interface StoredForm {
  file: PackFile;
  isCompressed: boolean;
  /** As the record has it: with the padding of blocks, without that of an entry that is not compressed. */
  storedSize: number;
  sha1: Uint8Array;
  /** Size of each block without padding; none for an entry that is not compressed. */
  blockSizes: number[];
  /** The stored bytes with all padding, in order. Throws E_INTEGRITY when the file is not the same any more. */
  chunks: () => AsyncIterable<Uint8Array>;
}

interface Chunk {
  bytes: Uint8Array;
  /** Without padding. */
  size: number;
}

type ChunkMaker = () => AsyncIterable<Chunk>;

/**
 * Finds the stored form of a file: compressed when that is asked for and makes it smaller.
 * @throws E_INTEGRITY when the file does not have the size that was promised
 */
export async function storedForm(file: PackFile, plan: PackPlan): Promise<StoredForm> {
  if (plan.compress && file.size > 0) {
    const form = await measure(file, () => compressedChunks(file, plan), true);
    if (form.storedSize < file.size) return form;
  }
  return measure(file, () => plainChunks(file, plan), false);
}

async function measure(file: PackFile, make: ChunkMaker, isCompressed: boolean): Promise<StoredForm> {
  const hash = createHash('sha1');
  const blockSizes: number[] = [];
  let kept: Uint8Array[] | undefined = [];
  let storedSize = 0;
  for await (const { bytes, size } of make()) {
    const counted = isCompressed ? bytes : bytes.subarray(0, size);
    hash.update(counted);
    storedSize += counted.length;
    if (isCompressed) blockSizes.push(size);
    if (storedSize <= maxKeptBytes) kept?.push(bytes);
    else kept = undefined;
  }
  const sha1 = hash.digest();
  const chunks = kept === undefined ? () => madeAgain(file, make, { sha1, isCompressed }) : () => asAsync(kept);
  return { file, isCompressed, storedSize, sha1, blockSizes, chunks };
}

async function* asAsync(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function* madeAgain(
  file: PackFile,
  make: ChunkMaker,
  { sha1, isCompressed }: Pick<StoredForm, 'sha1' | 'isCompressed'>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha1');
  for await (const { bytes, size } of make()) {
    hash.update(isCompressed ? bytes : bytes.subarray(0, size));
    yield bytes;
  }
  if (!equalBytes(hash.digest(), sha1)) throw changedWhilePacking(file);
}

async function* compressedChunks(file: PackFile, { blockSize, dataKey, exact }: PackPlan): AsyncGenerator<Chunk> {
  const compress = async (block: Uint8Array): Promise<Uint8Array> =>
    exact ? deflateExactInSteps(block, { level: zlibLevel }) : deflateBlock(block, zlibLevel);
  const blocks = mapConcurrently(inBlocks(contentOf(file), blockFor(file, blockSize)), compress, concurrentBlocks);
  for await (const block of blocks) {
    const bytes = dataKey === undefined ? block : aesEcbEncrypt(padded(block, block), dataKey);
    yield { bytes, size: block.length };
  }
}

async function* plainChunks(file: PackFile, { dataKey }: PackPlan): AsyncGenerator<Chunk> {
  let start: Uint8Array | undefined;
  for await (const piece of inBlocks(contentOf(file), blockFor(file, pieceSize))) {
    start ??= piece.slice(0, aesBlockSize);
    const bytes = dataKey === undefined ? piece : aesEcbEncrypt(padded(piece, start), dataKey);
    yield { bytes, size: piece.length };
  }
}

/** Bytes of a block: memory for no more than there is of a file, for most are small. */
function blockFor({ size }: PackFile, most: number): number {
  return Math.max(1, Math.min(size, most));
}

/** The bytes up to a whole block, filled with those of `start` over and over, as UnrealPak does. */
function padded(bytes: Uint8Array, start: Uint8Array): Uint8Array {
  const whole = new Uint8Array(alignToBlock(bytes.length));
  whole.set(bytes);
  for (let i = bytes.length; i < whole.length; i++) whole[i] = start[(i - bytes.length) % start.length]!;
  return whole;
}

/**
 * The results of a function for some items, in the items' order. It works on the next items while one is waited for.
 * @param concurrency items that are worked on at once
 */
export async function* mapConcurrently<Item, Made>(
  items: AsyncIterable<Item> | Iterable<Item>,
  make: (item: Item) => Promise<Made>,
  concurrency: number,
): AsyncGenerator<Made> {
  const pending: Promise<Made>[] = [];
  for await (const item of items) {
    const made = make(item);
    // It is waited for later; until then its failure must not count as unhandled.
    made.catch(() => {});
    pending.push(made);
    const first = pending.length < concurrency ? undefined : pending.shift();
    if (first !== undefined) yield await first;
  }
  for (const made of pending) yield await made;
}
