/*
 * Files become BLTE objects, as a spec says: a `b` makes a table with a row for each chunk, anything else one chunk
 * without a table. What stands for one chunk is the mirror of chunk.ts: n N, z Z, e E; a `b` inside is a nested object.
 */
import { deflateExact } from '../../codecs/compression/deflate-exact.ts';
import { deflate } from '../../codecs/compression/inflate.ts';
import { concatBytes, fromHex, toHex } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';
import { md5 } from '../../core/hash.ts';
import { encodeCipherHead, openCipher } from './cipher.ts';
import { type Espec, type EspecBits, parseEspec, planChunks } from './espec.ts';
import { type BlteRow, ekeyOfBlte, encodeBlteHeader } from './header.ts';
import { emptyKeyRing, type KeyRing } from './keys.ts';
import { chunkModes, defaultLevel } from './modes.ts';

/** Choices about an object to make. */
export interface EncodeBlteOptions {
  /** Keys for the `e` parts of the spec. Default: none. */
  keys?: KeyRing | undefined;
  /** `0x10`: a table with the MD5 of the decoded chunks too. `auto` (default): the common one. Either only for a `b` spec. */
  table?: 'auto' | '0x10' | undefined;
  /**
   * `exact` (default) makes the bytes of the original zlib, the same everywhere, so that content and spec give the ekey
   * that other encoders give. `fast` is four times as fast, and its ekeys depend on the machine.
   */
  zlib?: 'exact' | 'fast' | undefined;
}

/** An object and its key. */
export interface EncodedBlte {
  bytes: Uint8Array;
  /** Lower-case hex. */
  ekey: string;
}

/**
 * Encodes a file as a spec says.
 * @throws E_FORMAT for a spec that is none or does not fit the size, E_KEY_MISSING with the `keyName`,
 *   E_UNSUPPORTED for bcpack, gdeflate and lz4hc
 */
export function encodeBlte(data: Uint8Array, spec: string | Espec, options: EncodeBlteOptions = {}): EncodedBlte {
  const parsed = typeof spec === 'string' ? parseEspec(spec) : spec;
  const chunks = planChunks(parsed, data.length);
  const bytes =
    parsed.type === 'b'
      ? withTable(data, chunks, options)
      : concatBytes([encodeBlteHeader(), encodeChunk(data, parsed, { ...options, index: 0 })]);
  return { bytes, ekey: ekeyOfBlte(bytes) };
}

/** Encodes one chunk, the one of this `index` in its table; mode byte first. Throws as {@link encodeBlte}. */
export function encodeChunk(data: Uint8Array, spec: Espec, options: EncodeBlteOptions & { index: number }): Uint8Array {
  switch (spec.type) {
    case 'n':
      return withMode(chunkModes.plain, data);
    case 'z': {
      const level = spec.level ?? defaultLevel;
      const squeeze = options.zlib === 'fast' ? deflate : deflateExact;
      return withMode(chunkModes.zlib, squeeze(data, { level, windowBits: windowBits(spec.bits, data.length) }));
    }
    case 'e':
      return encrypted(encodeChunk(data, spec.spec, options), spec, options);
    case 'b':
      return withMode(chunkModes.nested, encodeBlte(data, spec, options).bytes);
    default:
      throw unsupported(spec.type === 'c' ? 'bcpack' : 'gdeflate');
  }
}

function withTable(
  data: Uint8Array,
  chunks: readonly { size: number; spec: Espec }[],
  options: EncodeBlteOptions,
): Uint8Array {
  const rows: BlteRow[] = [];
  const encodedChunks: Uint8Array[] = [];
  let offset = 0;
  for (const [index, { size, spec }] of chunks.entries()) {
    const decoded = data.subarray(offset, offset + size);
    const encoded = encodeChunk(decoded, spec, { ...options, index });
    rows.push({ encodedSize: encoded.length, decodedSize: size, md5: md5(encoded), decodedMd5: md5(decoded) });
    encodedChunks.push(encoded);
    offset += size;
  }
  const format = options.table === '0x10' ? 0x10 : 0x0f;
  return concatBytes([encodeBlteHeader({ format, rows }), ...encodedChunks]);
}

function encrypted(
  inner: Uint8Array,
  spec: Extract<Espec, { type: 'e' }>,
  { keys, index }: EncodeBlteOptions & { index: number },
): Uint8Array {
  const head = { keyName: toHex(fromHex(spec.key).reverse()), iv: fromHex(spec.iv), cipher: 'salsa20' } as const;
  const encrypt = openCipher(head, index, keys ?? emptyKeyRing);
  return concatBytes([encodeCipherHead(head), encrypt(inner)]);
}

/** `mpq` makes the window as large as the chunk needs, as MPQ archives had it (StormLib; not checked on a real chunk). */
function windowBits(bits: EspecBits | undefined, size: number): number {
  if (bits === 'lz4hc') throw unsupported('lz4hc');
  if (bits === 'mpq') return Math.min(Math.max(Math.ceil(Math.log2(size)), 8), 15);
  return typeof bits === 'number' ? bits : 15;
}

function withMode(mode: number, body: Uint8Array): Uint8Array {
  const encoded = new Uint8Array(1 + body.length);
  encoded[0] = mode;
  encoded.set(body, 1);
  return encoded;
}

function unsupported(feature: string): PakratError {
  return new PakratError('E_UNSUPPORTED', `encoding with ${feature} is not supported`, { data: { feature } });
}
