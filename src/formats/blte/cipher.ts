/*
 * An encrypted chunk. Behind its mode byte 'E':
 *
 *   name size   u8     always 8
 *   key name    8      a little-endian number: reversed against the form that key lists print
 *   IV size     u8     4, or 8 since 2026
 *   IV          4, 8
 *   cipher      u8     'S' Salsa20/20 with a 16-byte key, 'A' ARC4 (known from the format only, never met)
 *   body               a chunk again, mode byte first
 *
 * The Salsa20 nonce is the IV padded with zeros to 8 bytes, its first four XORed with the little-endian number of the
 * chunk in the table. (wowdev.wiki BLTE; sizes and byte orders checked on real especs, nonces on another encoder's output)
 */
import { arc4Stream } from '../../codecs/ciphers/arc4.ts';
import { salsa20Stream } from '../../codecs/ciphers/salsa20.ts';
import { fromHex, toHex } from '../../core/bytes.ts';
import { formatError, PakratError } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import { ByteWriter } from '../../core/writer.ts';
import type { KeyRing } from './keys.ts';
import { chunkModes } from './modes.ts';

const nameSize = 8;
const keySize = 16;
const salsa20Code = 0x53;
const arc4Code = 0x41;

/** The head of an encrypted chunk. */
export interface CipherHead {
  /** As key lists print it: 16 lower-case hex digits. */
  keyName: string;
  iv: Uint8Array;
  cipher: 'salsa20' | 'arc4';
  /** Bytes before the body, mode byte included. */
  size: number;
}

/**
 * Reads the head of an encrypted chunk.
 * @param encoded the chunk from its mode byte on; 32 bytes of it are enough
 * @throws E_FORMAT_TRUNCATED, E_FORMAT for a size or cipher that does not exist
 */
export function decodeCipherHead(encoded: Uint8Array, what = 'BLTE chunk'): CipherHead {
  const reader = new ByteReader(encoded, what, 1);
  demandSize(reader, 'key name', [nameSize]);
  const keyName = toHex(reader.take(nameSize).toReversed());
  const iv = reader.take(demandSize(reader, 'IV', [4, 8]));
  const code = reader.u8();
  if (code !== salsa20Code && code !== arc4Code) {
    throw formatError('E_FORMAT', what, 'unknown cipher', { offset: reader.pos - 1, expected: 'S or A', found: code });
  }
  return { keyName, iv, cipher: code === salsa20Code ? 'salsa20' : 'arc4', size: reader.pos };
}

/** Writes the head of an encrypted chunk, mode byte included. */
export function encodeCipherHead({ keyName, iv, cipher }: Omit<CipherHead, 'size'>): Uint8Array {
  const writer = new ByteWriter(32).u8(chunkModes.encrypted).u8(nameSize).raw(fromHex(keyName).reverse());
  const code = cipher === 'salsa20' ? salsa20Code : arc4Code;
  return writer.u8(iv.length).raw(iv).u8(code).bytes();
}

/**
 * The name of the key that locks a chunk, as key lists print it; undefined when the chunk is not encrypted.
 * Encryption below encryption is not seen.
 * @param firstBytes the chunk from its mode byte on; 32 bytes of it are enough
 */
export function chunkKeyName(firstBytes: Uint8Array): string | undefined {
  return firstBytes[0] === chunkModes.encrypted ? decodeCipherHead(firstBytes).keyName : undefined;
}

/**
 * The decryption of one chunk's body: give its pieces to the function in order.
 * @param index number of the chunk in its table
 * @throws E_KEY_MISSING with the `keyName` when the ring does not have the key
 */
export function openCipher(
  head: Omit<CipherHead, 'size'>,
  index: number,
  keys: KeyRing,
): (piece: Uint8Array) => Uint8Array {
  const key = findKey(head.keyName, index, keys);
  return head.cipher === 'arc4' ? arc4Stream(key) : salsa20Stream(key, chunkNonce(head.iv, index));
}

function chunkNonce(iv: Uint8Array, index: number): Uint8Array {
  const nonce = new Uint8Array(8);
  nonce.set(iv);
  for (let i = 0; i < 4; i++) nonce[i]! ^= (index >>> (8 * i)) & 0xff;
  return nonce;
}

function findKey(keyName: string, index: number, keys: KeyRing): Uint8Array {
  const key = keys.find(keyName);
  if (key === undefined) {
    throw new PakratError('E_KEY_MISSING', `chunk ${index} is encrypted with key ${keyName}, which is not known`, {
      hint: 'Import a list that has the key (`pakrat keys import FILE`, `pakrat keys update`), or leave out what it locks.',
      data: { keyName, index },
    });
  }
  if (key.length !== keySize) {
    throw formatError('E_FORMAT', `key ${keyName}`, 'wrong size', { expected: keySize, found: key.length });
  }
  return key;
}

function demandSize(reader: ByteReader, part: string, allowed: readonly number[]): number {
  const offset = reader.pos;
  const found = reader.u8();
  if (allowed.includes(found)) return found;
  throw formatError('E_FORMAT', reader.what, `wrong ${part} size`, { offset, expected: allowed.join(' or '), found });
}
