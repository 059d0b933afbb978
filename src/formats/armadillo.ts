/*
 * Armadillo: the objects of a product that is not public yet, encrypted one by one as they lie on the CDN. The product config
 * names the key (all.config.decryption_key_name); its file is handed out by hand.
 *
 *   NAME.ak   16  key
 *              4  first bytes of its MD5
 *
 * An object is encrypted from its first byte to its last with Salsa20 and the 16-byte key; the nonce is the last 8 bytes of the
 * hash that it is named by (an index without its `.index`). Configs, indices, data and patches are, product configs are not.
 * A key stream has no chaining, so a range can be decrypted by its offset. Names and hashes are those of the decrypted bytes.
 * (known from HearthSim/keg, TACTSharp and BuildBackup; no real object was there to check)
 */

import { salsa20At } from '../codecs/ciphers/salsa20.ts';
import { equalBytes, fromHex, toHex } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import { md5 } from '../core/hash.ts';
import { canBeRead, type Format } from './format.ts';

const keySize = 16;
const checksumSize = 4;
const format = 'Armadillo key';

/** A key file: told by its size and checksum. */
export const armadilloKeyFormat: Format = { name: format, matches: canBeRead(decodeArmadilloKey) };

/**
 * Reads a key file.
 * @returns the key, 16 bytes
 * @throws E_FORMAT for another size, E_FORMAT_CHECKSUM when the key is not the one that its checksum is of
 */
export function decodeArmadilloKey(bytes: Uint8Array): Uint8Array {
  if (bytes.length !== keySize + checksumSize) {
    const facts = { expected: keySize + checksumSize, found: bytes.length };
    throw formatError('E_FORMAT', format, 'the file is not of the size of one', facts);
  }
  const key = bytes.slice(0, keySize);
  const found = bytes.subarray(keySize);
  const expected = md5(key).subarray(0, checksumSize);
  if (equalBytes(found, expected)) return key;
  const facts = { offset: keySize, expected: toHex(expected), found: toHex(found) };
  throw formatError('E_FORMAT_CHECKSUM', format, 'wrong checksum', facts);
}

/** Writes a key file. @param key 16 bytes */
export function encodeArmadilloKey(key: Uint8Array): Uint8Array {
  return Uint8Array.of(...key.subarray(0, keySize), ...md5(key.subarray(0, keySize)).subarray(0, checksumSize));
}

/** A stretch of an object, and the key that the object is encrypted with. */
export interface ObjectStretch {
  key: Uint8Array;
  /** The hash that the object is named by, 32 hex digits. */
  hash: string;
  /** Of the stretch in the object. */
  offset: number;
}

/** Encrypts or decrypts a stretch of an object: both are the same. */
export function armadillo(bytes: Uint8Array, { key, hash, offset }: ObjectStretch): Uint8Array {
  return salsa20At(key, fromHex(hash).subarray(8), bytes, offset);
}
