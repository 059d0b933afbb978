import { fromHex } from '../core/bytes.ts';
import { md5Hex } from '../core/hash.ts';
import { encodeBlte } from '../formats/blte/encode.ts';
import { reverseName, type TactKey } from '../formats/key-list.ts';

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

/** An encoding, with its bytes. */
export interface EncodedBytes extends EncodedContent {
  bytes: Uint8Array;
}

/** Every object gets a chunk table, for there are readers that know none without; a chunk is what a broken transfer can cost. */
const chunkSize = '256K';

/** Encodes a content in chunks of 256 KiB, deflated where that makes it smaller, encrypted when there is a key. */
export function encodeContent(content: Uint8Array, key?: TactKey): EncodedBytes {
  const ckey = md5Hex(content);
  const deflated = encodeAs(content, ckey, { inner: 'z', key });
  return deflated.encodedSize <= content.length ? deflated : encodeAs(content, ckey, { inner: 'n', key });
}

function encodeAs(content: Uint8Array, ckey: string, how: { inner: string; key: TactKey | undefined }): EncodedBytes {
  const { inner, key } = how;
  const espec =
    key === undefined ? `b:${chunkSize}*=${inner}` : `b:{${chunkSize}*=${encryptedEspec(key, ckey, inner)}}`;
  return encodeWith(content, espec, key);
}

/** The IV is taken from the content: a key stream that served two contents would give both away. */
function encryptedEspec({ name }: TactKey, ckey: string, inner: string): string {
  return `e:{${reverseName(name).toUpperCase()},${ckey.slice(0, 8).toUpperCase()},${inner}}`;
}

/** Encodes a content as a spec says. @throws as encodeBlte */
export function encodeWith(content: Uint8Array, espec: string, key?: TactKey): EncodedBytes {
  const keys = { find: (name: string) => (name === key?.name.toLowerCase() ? fromHex(key.key) : undefined) };
  const { bytes, ekey } = encodeBlte(content, espec, { keys });
  return { bytes, ckey: md5Hex(content), ekey, size: content.length, encodedSize: bytes.length, espec };
}
