import { fromHex } from '../../core/bytes.ts';
import { md5Hex } from '../../core/hash.ts';
import { encodeBlte } from '../../formats/blte/encode.ts';
import { reverseName, type TactKey } from '../../formats/configs/key-list.ts';

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

/** Every object gets a chunk table, for there are readers that know none without; a chunk is what a broken transfer can cost. */
const chunkSize = '256K';

/** Encodes a content in chunks of 256 KiB, deflated when that makes it smaller, encrypted when there is a key. */
export function encodeContent(content: Uint8Array, key?: TactKey): EncodedBytes {
  const [plain, deflated] = ['n', 'z'].map((inner) => encodeWith(content, contentEspec(content, inner, key), key));
  return deflated!.encodedSize < plain!.encodedSize ? deflated! : plain!;
}

/** The IV is taken from the content: a key stream that served two contents would give both away. */
function contentEspec(content: Uint8Array, inner: string, key: TactKey | undefined): string {
  if (key === undefined) return `b:${chunkSize}*=${inner}`;
  const iv = md5Hex(content).slice(0, 8).toUpperCase();
  return `b:{${chunkSize}*=e:{${reverseName(key.name).toUpperCase()},${iv},${inner}}}`;
}

/** Encodes a content as a spec says. @throws as encodeBlte */
export function encodeWith(content: Uint8Array, espec: string, key?: TactKey): EncodedBytes {
  const keys = { find: (name: string) => (name === key?.name.toLowerCase() ? fromHex(key.key) : undefined) };
  const { bytes, ekey } = encodeBlte(content, espec, { keys });
  return { bytes, ckey: md5Hex(content), ekey, size: content.length, encodedSize: bytes.length, espec };
}
