/*
 * A BLTE object read piece by piece. Chunks up to 8 MiB are read whole, verified, and only then decoded. Larger ones
 * (a chunk may have 4 GiB) flow through in pieces of 256 KiB while they are hashed; their last piece is decoded only
 * when the hash is right, but what came before it was given out unverified. So a consumer keeps nothing that it was
 * given until the end came without an error.
 */
import { inflatePieces } from '../../codecs/compression/inflate.ts';
import { fromHex, toHex } from '../../core/bytes.ts';
import { codeOf, formatError } from '../../core/errors.ts';
import { md5Hasher, md5Hex } from '../../core/hash.ts';
import { giveBackOwn } from '../../core/tables/large-bytes.ts';
import { slicePieces } from '../../files/pieces.ts';
import { expectKey } from '../check-md5.ts';
import { type ChunkOptions, chunkName, decodeChunk, expectDigest, expectSize, maxDepth, unknownMode } from './chunk.ts';
import { decodeCipherHead, openCipher } from './cipher.ts';
import type { DecodeBlteOptions } from './decode.ts';
import { type BlteChunk, type BlteHeader, bltePrefixSize, decodeBlteHeader, decodeBltePrefix } from './header.ts';
import { emptyKeyRing, type KeyRing } from './keys.ts';
import { chunkModes } from './modes.ts';
import { collect, mapPieces, type Pieces, peekFirst, skipBytes, slices } from './pieces.ts';

/** Gives exactly `size` bytes from `offset` of an object; they must not change afterwards, unless `isReused` says that they do. */
export type ReadRange = (offset: number, size: number) => Promise<Uint8Array>;

/** Facts about an object that are known before it is read, and the means to decode it. The ckey is checked at the end. */
export interface ReadBlteOptions extends Omit<DecodeBlteOptions, 'maxSize'> {
  /** What is read is there until the next is read, and so is a piece that comes out: for those who are through with it then. */
  isReused?: boolean;
}

/** Chunks up to this size, encoded and decoded, are held whole: 8 MiB. */
const wholeChunkSize = 0x80_0000;
const pieceSize = 0x4_0000;
/** Bytes that are read at least where less than a piece is wanted: 1 MiB. */
const readAheadSize = 0x10_0000;
/** The same where only a header is wanted. */
const headerReadSize = 0x1_0000;
/** Most bytes for a chunk in a mode that cannot be decoded in pieces: 64 MiB. */
const heldSize = 0x400_0000;

/** Reads the header of an object: 64 KiB or what the table needs. Throws E_FORMAT_… as decodeBlteHeader. */
export async function readBlteHeader(read: ReadRange, objectSize: number): Promise<BlteHeader> {
  return decodeBlteHeader(await readHeaderBytes(readAhead(read, objectSize, headerReadSize), objectSize), objectSize);
}

/**
 * Decodes an object into pieces of at most 4 MiB, in order. Memory follows the pieces, not the object or its chunks.
 * Bytes are right only when the last one came without an error: see the top of this file.
 * @throws E_INTEGRITY when a chunk, a key or the size differs, E_FORMAT_… for damage, E_KEY_MISSING with the `keyName`
 */
export async function* readBlte(
  read: ReadRange,
  objectSize: number,
  options: ReadBlteOptions = {},
): AsyncGenerator<Uint8Array> {
  const buffered = readAhead(read, objectSize);
  const { ckey, keys = emptyKeyRing } = options;
  const { header, chunk } = await openBlte(buffered, objectSize, options);
  const content = ckey === undefined ? undefined : md5Hasher();
  for (let i = 0; i < header.count; i++) {
    for await (const piece of readChunk(buffered, chunk(i), keys)) {
      content?.update(piece);
      yield piece;
    }
  }
  if (ckey !== undefined && content !== undefined) expectKey('ckey', ckey, toHex(content.digest()));
}

/** Decoded bytes of an object: offset and size, in bytes. */
export interface BltePart {
  readonly offset: number;
  readonly size: number;
}

/**
 * Decodes a part of an object: only the header is read and the chunks that the part lies in. Fewer bytes come where the object ends. The ckey
 * covers all of the content, and so tells nothing here. Without a table there is one chunk, which is read from its start to the end of the part.
 * @throws as {@link readBlte}
 */
export async function* readBltePart(
  read: ReadRange,
  objectSize: number,
  { offset, size }: BltePart,
  options: Omit<ReadBlteOptions, 'ckey'> = {},
): AsyncGenerator<Uint8Array> {
  const { keys = emptyKeyRing } = options;
  const { header, chunk } = await openBlte(readAhead(read, objectSize, headerReadSize), objectSize, options);
  const { first, end, start } = chunksAround(header, { offset, size });
  if (first === end) return;
  const last = chunk(end - 1);
  // Not a byte behind the last of them.
  const buffered = readAhead(read, last.offset + last.encodedSize);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let i = first; i < end; i++) yield* readChunk(buffered, chunk(i), keys);
  }
  yield* slicePieces(pieces(), offset - start, size);
}

/** The chunks from `first` to before `end` that a part lies in; decoded, the first of them begins at `start`. */
function chunksAround(header: BlteHeader, part: BltePart): { first: number; end: number; start: number } {
  if (header.decodedSize === undefined) return { first: 0, end: part.size === 0 ? 0 : 1, start: 0 };
  let index = 0;
  let at = 0;
  const skipTo = (offset: number): number => {
    for (; index < header.count; index++) {
      const next = at + (header.chunk(index).decodedSize ?? 0);
      if (next > offset) break;
      at = next;
    }
    return index;
  };
  const first = skipTo(part.offset);
  const start = at;
  const end = part.size === 0 ? first : Math.min(skipTo(part.offset + part.size - 1) + 1, header.count);
  return { first, end, start };
}

/** The header of an object, checked against what is known of it, and its chunks as they must be. */
async function openBlte(read: ReadRange, objectSize: number, options: ReadBlteOptions) {
  const { ekey, decodedSize: known, isReused = false } = options;
  const headerRead = await readHeaderBytes(read, objectSize);
  const headerBytes = isReused ? headerRead.slice() : headerRead;
  const header = decodeBlteHeader(headerBytes, objectSize);
  if (ekey !== undefined && header.headerSize > 0) expectKey('ekey', ekey, md5Hex(headerBytes));
  const decodedSize = expectSize(header, known);
  const whole = ekey === undefined ? {} : { md5: fromHex(ekey), before: headerBytes };
  const chunk = (index: number): ExpectedChunk =>
    header.headerSize > 0
      ? { ...header.chunk(index), isReused }
      : { ...header.chunk(index), isReused, decodedSize, ...whole };
  return { header, chunk };
}

/** A chunk, and how it is read. */
interface ExpectedChunk extends BlteChunk, Pick<PieceContext, 'isReused'> {
  /** Bytes that its MD5 covers before it: without a table the ekey is the MD5 of the whole object. */
  before?: Uint8Array;
}

async function readHeaderBytes(read: ReadRange, objectSize: number): Promise<Uint8Array> {
  const size = decodeBltePrefix(await read(0, Math.min(bltePrefixSize, objectSize)));
  if (size > objectSize) {
    const facts = { offset: 4, expected: size, found: objectSize };
    throw formatError('E_FORMAT_TRUNCATED', 'BLTE header', 'the object ends before its header does', facts);
  }
  return read(0, size);
}

/** Reads further than asked, so that thousands of small chunks do not cost a read each. */
function readAhead(read: ReadRange, objectSize: number, leastSize = readAheadSize): ReadRange {
  let held: Uint8Array = new Uint8Array(0);
  let heldOffset = 0;
  return async (offset, size) => {
    if (offset < heldOffset || offset + size > heldOffset + held.length) {
      const wanted = Math.min(size < pieceSize ? Math.max(size, leastSize) : size, objectSize - offset);
      held = await read(offset, wanted);
      heldOffset = offset;
      if (held.length !== wanted) {
        const facts = { offset, expected: wanted, found: held.length };
        throw formatError('E_FORMAT_TRUNCATED', 'BLTE object', 'wrong number of bytes read', facts);
      }
    }
    return held.subarray(offset - heldOffset, offset - heldOffset + size);
  };
}

async function* readChunk(read: ReadRange, expected: ExpectedChunk, keys: KeyRing): AsyncGenerator<Uint8Array> {
  const { encodedSize, decodedSize } = expected;
  const pieces = encodedPieces(read, expected);
  if (encodedSize <= wholeChunkSize && decodedSize !== undefined && decodedSize <= wholeChunkSize) {
    for await (const encoded of pieces) {
      const decoded = decodeChunk(encoded, { ...expected, keys });
      yield* slices(decoded);
      if (expected.isReused && decoded.buffer !== encoded.buffer) giveBackOwn(decoded);
    }
    return;
  }
  try {
    yield* checkedOutput(
      decodePieces(pieces, { ...expected, keys, depth: 0, what: chunkName(expected.index) }),
      expected,
    );
  } catch (error) {
    // A damaged chunk mostly fails to decode before its hash is known. The hash says whether the bytes are to blame.
    if (codeOf(error)?.startsWith('E_FORMAT')) await drain(encodedPieces(read, expected));
    throw error;
  }
}

/** The encoded bytes of a chunk; the last piece (or the only one) comes when the hash over all of them is right. */
async function* encodedPieces(read: ReadRange, expected: ExpectedChunk): AsyncGenerator<Uint8Array> {
  const { offset, encodedSize, md5, before, index } = expected;
  const step = encodedSize <= wholeChunkSize ? encodedSize : pieceSize;
  const hasher = md5 && md5Hasher();
  if (before !== undefined) hasher?.update(before);
  for (let at = 0; at < encodedSize; at += step) {
    const piece = await read(offset + at, Math.min(step, encodedSize - at));
    hasher?.update(piece);
    if (md5 !== undefined && hasher !== undefined && at + step >= encodedSize)
      expectDigest(hasher.digest(), md5, index);
    yield piece;
  }
}

async function drain(pieces: Pieces): Promise<void> {
  for await (const _piece of pieces);
}

interface PieceContext extends ChunkOptions {
  keys: KeyRing;
  depth: number;
  what: string;
  /** A piece is there until the next is read. */
  isReused: boolean;
}

/** Decodes a chunk that comes in pieces. The first piece must hold the heads of all encryptions. */
async function* decodePieces(pieces: Pieces, context: PieceContext): AsyncGenerator<Uint8Array> {
  const { decodedSize, what, isReused } = context;
  const { first, all } = await peekFirst(pieces);
  // For those who look at several at a time.
  const kept = (): Pieces => (isReused ? mapPieces(all, (piece) => piece.slice()) : all);
  switch (first[0]) {
    case chunkModes.plain:
      return yield* skipBytes(all, 1);
    case chunkModes.zlib:
      return yield* inflatePieces(skipBytes(kept(), 1), { size: decodedSize, maxSize: Number.POSITIVE_INFINITY, what });
    case chunkModes.encrypted:
      return yield* decryptPieces(first, all, context);
    case chunkModes.nested:
    case chunkModes.lz4:
      return yield* slices(decodeChunk(await collect(kept(), heldSize, what), { ...context, maxSize: heldSize }));
    default:
      throw unknownMode(first[0], what);
  }
}

async function* decryptPieces(first: Uint8Array, all: Pieces, context: PieceContext): AsyncGenerator<Uint8Array> {
  const { index, keys, depth, what } = context;
  if (depth >= maxDepth) throw formatError('E_FORMAT_RANGE', what, `more than ${maxDepth} chunks in one another`);
  const head = decodeCipherHead(first, what);
  const body = mapPieces(skipBytes(all, head.size), openCipher(head, index, keys));
  yield* decodePieces(body, { ...context, depth: depth + 1, what: `${what}, decrypted with key ${head.keyName}` });
}

/** Passes pieces on while they stay within the promised size; at the end size and MD5 must be as promised. */
async function* checkedOutput(pieces: Pieces, expected: ExpectedChunk): AsyncGenerator<Uint8Array> {
  const { index, decodedSize, decodedMd5 } = expected;
  const hasher = decodedMd5 && md5Hasher();
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (decodedSize !== undefined && size > decodedSize) break;
    hasher?.update(piece);
    yield piece;
  }
  if (decodedSize !== undefined && size !== decodedSize) {
    const facts = { expected: decodedSize, found: size };
    throw formatError('E_FORMAT', chunkName(index), 'wrong decoded size', facts);
  }
  if (decodedMd5 !== undefined && hasher !== undefined) expectDigest(hasher.digest(), decodedMd5, index);
}
