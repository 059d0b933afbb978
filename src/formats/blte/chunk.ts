/*
 * The chunks of a BLTE object. The first byte of a chunk says how the rest is encoded:
 *
 *   'N' as it is · 'Z' a zlib stream · 'E' encrypted, a chunk again below (cipher.ts)
 *   'F' a whole BLTE object · '4' LZ4 (lz4-chunk.ts)
 *
 * 'F' and '4' are known from the format only. (wowdev.wiki BLTE; N, Z and E checked on real files and especs)
 */
import { inflate } from '../../codecs/compression/inflate.ts';
import { equalBytes, toHex } from '../../core/bytes.ts';
import { formatError, PakratError } from '../../core/errors.ts';
import { md5 } from '../../core/hash.ts';
import { decodeCipherHead, openCipher } from './cipher.ts';
import { type BlteChunk, type BlteHeader, decodeBlteHeader } from './header.ts';
import { emptyKeyRing, type KeyRing } from './keys.ts';
import { lz4Body } from './lz4-chunk.ts';
import { chunkModes } from './modes.ts';

/**
 * Most bytes that are decoded into memory at once, where nobody says otherwise: 32 times the encoded ones, 64 MiB of few, 1 GiB of many. Real
 * objects of that size are far below; two megabytes that inflate to two gigabytes are refused.
 */
export function defaultMaxSize(encodedSize: number): number {
  return Math.min(0x4000_0000, Math.max(0x400_0000, encodedSize * 32));
}

/** Chunks in chunks: encryption around encryption or a nested object is thinkable, more than this is an attack. */
export const maxDepth = 4;

/** Facts about a chunk, and the means to decode it. A `BlteChunk` with `keys` beside is one. */
export interface ChunkOptions {
  /** Number of the chunk in its table: part of the nonce when it is encrypted. */
  index: number;
  /** Exact size of what comes out, when it is known. */
  decodedSize?: number | undefined;
  /** MD5 of what comes out, when it is known. */
  decodedMd5?: Uint8Array | undefined;
  /** Default: no keys. */
  keys?: KeyRing | undefined;
  /** Most bytes that may come out of a compressed chunk. Default {@link defaultMaxSize}. */
  maxSize?: number | undefined;
  /** The number of chunks that this one lies in. Default 0. */
  depth?: number | undefined;
}

interface Context extends Required<Omit<ChunkOptions, 'decodedMd5' | 'keys' | 'maxSize' | 'depth'>> {
  keys: KeyRing;
  maxSize: number;
  depth: number;
  what: string;
}

/**
 * Decodes one chunk. An uncompressed one comes back as a view of `encoded`, not as a copy.
 * Its MD5 is not looked at: see {@link verifyChunk}.
 * @param encoded the chunk, its mode byte first
 * @throws E_FORMAT_… for damage or a size that differs, E_KEY_MISSING with the `keyName`, E_INTEGRITY when `decodedMd5` differs
 */
export function decodeChunk(encoded: Uint8Array, options: ChunkOptions): Uint8Array {
  const decoded = decodeMode(encoded, {
    index: options.index,
    decodedSize: options.decodedSize,
    keys: options.keys ?? emptyKeyRing,
    maxSize: options.maxSize ?? defaultMaxSize(encoded.length),
    depth: options.depth ?? 0,
    what: chunkName(options.index),
  });
  if (options.decodedMd5 !== undefined) expectDigest(md5(decoded), options.decodedMd5, options.index);
  return decoded;
}

/**
 * Checks the encoded bytes of a chunk against its row; no key is needed. Without a table there is nothing to check.
 * @throws E_INTEGRITY with index, expected and found
 */
export function verifyChunk(encoded: Uint8Array, chunk: Pick<BlteChunk, 'index' | 'md5'>): void {
  if (chunk.md5 !== undefined) expectDigest(md5(encoded), chunk.md5, chunk.index);
}

/** Throws E_INTEGRITY when the digest of a chunk is not the one promised for it. */
export function expectDigest(found: Uint8Array, expected: Uint8Array, index: number): void {
  if (equalBytes(found, expected)) return;
  throw new PakratError('E_INTEGRITY', `${chunkName(index)}: its bytes do not hash to what was promised`, {
    hint: 'The object is damaged; fetch it again.',
    data: { index, expected: toHex(expected), found: toHex(found) },
  });
}

/** Decodes all chunks of an object, each verified. Throws as {@link decodeChunk} and {@link verifyChunk}. */
export function joinChunks(bytes: Uint8Array, options: Omit<ChunkOptions, 'index'>): Uint8Array {
  const header = decodeBlteHeader(bytes, bytes.length);
  const decodedSize = expectSize(header, options.decodedSize);
  const maxSize = options.maxSize ?? Math.max(defaultMaxSize(bytes.length), options.decodedSize ?? 0);
  if (decodedSize !== undefined) checkSize(decodedSize, maxSize);
  if (header.count === 1) return decodeOne(bytes, header.chunk(0), { ...options, maxSize, decodedSize });
  const whole = new Uint8Array(decodedSize ?? 0);
  let offset = 0;
  for (let i = 0; i < header.count; i++) {
    const decoded = decodeOne(bytes, header.chunk(i), { ...options, maxSize, decodedSize: undefined });
    whole.set(decoded, offset);
    offset += decoded.length;
  }
  return whole;
}

/** The decoded size of an object, as its table or the caller knows it. Throws E_INTEGRITY when both do and differ. */
export function expectSize(header: BlteHeader, known: number | undefined): number | undefined {
  const { decodedSize } = header;
  if (known !== undefined && decodedSize !== undefined && known !== decodedSize) {
    throw new PakratError('E_INTEGRITY', `BLTE object: decodes to ${decodedSize} bytes, not to ${known}`, {
      data: { expected: known, found: decodedSize },
    });
  }
  return decodedSize ?? known;
}

/** The name of a chunk in messages. */
export function chunkName(index: number): string {
  return `BLTE chunk ${index}`;
}

/** The error for a mode byte that does not exist. */
export function unknownMode(mode: number | undefined, what: string): PakratError {
  if (mode === undefined) return formatError('E_FORMAT_TRUNCATED', what, 'no mode byte', { offset: 0 });
  const facts = { offset: 0, expected: 'N, Z, E, F or 4', found: `0x${mode.toString(16)}` };
  return formatError('E_FORMAT', what, 'unknown mode', facts);
}

function decodeOne(bytes: Uint8Array, chunk: BlteChunk, options: Omit<ChunkOptions, 'index'>): Uint8Array {
  const encoded = bytes.subarray(chunk.offset, chunk.offset + chunk.encodedSize);
  verifyChunk(encoded, chunk);
  const decodedSize = chunk.decodedSize ?? options.decodedSize;
  return decodeChunk(encoded, { ...options, index: chunk.index, decodedSize, decodedMd5: chunk.decodedMd5 });
}

function decodeMode(encoded: Uint8Array, context: Context): Uint8Array {
  const body = encoded.subarray(1);
  switch (encoded[0]) {
    case chunkModes.plain:
      return checkPlain(body, context);
    case chunkModes.zlib:
      return inflate(body, { size: context.decodedSize, maxSize: context.maxSize, what: context.what });
    case chunkModes.encrypted:
      return decrypted(encoded, context);
    case chunkModes.nested:
      return nested(body, context);
    case chunkModes.lz4:
      return lz4Body(body, context);
    default:
      throw unknownMode(encoded[0], context.what);
  }
}

function checkPlain(body: Uint8Array, { decodedSize, what }: Context): Uint8Array {
  if (decodedSize === undefined || body.length === decodedSize) return body;
  throw formatError('E_FORMAT', what, 'wrong decoded size', { expected: decodedSize, found: body.length });
}

function decrypted(encoded: Uint8Array, context: Context): Uint8Array {
  const head = decodeCipherHead(encoded, context.what);
  const body = openCipher(head, context.index, context.keys)(encoded.subarray(head.size));
  return decodeMode(body, deeper(context, `, decrypted with key ${head.keyName}`));
}

function nested(body: Uint8Array, context: Context): Uint8Array {
  const { decodedSize, keys, maxSize, depth } = deeper(context, ', nested');
  return joinChunks(body, { decodedSize, keys, maxSize, depth });
}

function deeper(context: Context, addition: string): Context {
  const depth = context.depth + 1;
  if (depth > maxDepth)
    throw formatError('E_FORMAT_RANGE', context.what, `more than ${maxDepth} chunks in one another`);
  return { ...context, depth, what: context.what + addition };
}

/** Throws E_FORMAT_RANGE for a size that is not to be allocated. */
function checkSize(decodedSize: number, maxSize: number): void {
  if (decodedSize <= maxSize) return;
  throw formatError('E_FORMAT_RANGE', 'BLTE object', `promises ${decodedSize} bytes, where ${maxSize} are allowed`);
}
