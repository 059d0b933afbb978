import { fromHex } from '../../core/bytes.ts';
import { md5Hex } from '../../core/hash.ts';
import { encodeBlte } from '../../formats/blte/encode.ts';
import { emptyKeyRing, type KeyRing } from '../../formats/blte/keys.ts';
import type { TactKey } from '../../formats/configs/key-list.ts';

/** A content in one of its encodings. Keys are lower-case hex, sizes are bytes. */
export interface EncodedContent {
  ckey: string;
  ekey: string;
  /** Decoded. */
  size: number;
  encodedSize: number;
  /** How it was encoded. */
  espec: string;
}

/** The manifests of a build. */
export type Manifests = Record<'root' | 'install' | 'download' | 'size' | 'encoding', EncodedContent>;

/** An encoding, with its bytes. */
export interface EncodedBytes extends EncodedContent {
  bytes: Uint8Array;
}

/** Encodes a content as a spec says. @throws as encodeBlte */
export function encodeWith(content: Uint8Array, espec: string, key?: TactKey): EncodedBytes {
  const { bytes, ekey } = encodeBlte(content, espec, { keys: ringOf(key) });
  return { bytes, ckey: md5Hex(content), ekey, size: content.length, encodedSize: bytes.length, espec };
}

/** A ring of one key, or of none. */
export function ringOf(key: TactKey | undefined): KeyRing {
  if (key === undefined) return emptyKeyRing;
  return { find: (name) => (name === key.name.toLowerCase() ? fromHex(key.key) : undefined) };
}
