/* Whole BLTE objects in memory. Piece by piece: read.ts. */
import { md5Hex } from '../../core/hash.ts';
import { expectKey } from '../check-md5.ts';
import { joinChunks } from './chunk.ts';
import { ekeyOfBlte } from './header.ts';
import type { KeyRing } from './keys.ts';

/** Facts about an object that are known before it is decoded, and the means to decode it. */
export interface DecodeBlteOptions {
  /** Default: no keys. */
  keys?: KeyRing | undefined;
  /** Hex; checked when given. Without it an object that has no table is checked by nothing but its zlib stream. */
  ekey?: string | undefined;
  /** Hex; checked when given. */
  ckey?: string | undefined;
  /** Decoded size; checked when given. */
  decodedSize?: number | undefined;
  /** Most bytes that may come out. Default: `defaultMaxSize` of the encoded ones. */
  maxSize?: number | undefined;
}

/**
 * Decodes a whole object; the MD5 of every chunk is checked. May give back a view of `bytes`.
 * @throws E_INTEGRITY when a chunk, the ekey, the ckey or the size differs, E_FORMAT_… for damage, E_KEY_MISSING with the `keyName`
 */
export function decodeBlte(bytes: Uint8Array, options: DecodeBlteOptions = {}): Uint8Array {
  const { keys, decodedSize, maxSize } = options;
  if (options.ekey !== undefined) expectKey('ekey', options.ekey, ekeyOfBlte(bytes));
  const decoded = joinChunks(bytes, { keys, decodedSize, maxSize });
  if (options.ckey !== undefined) expectKey('ckey', options.ckey, md5Hex(decoded));
  return decoded;
}
