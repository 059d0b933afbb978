import * as crypto from 'node:crypto';
import { toHex } from './bytes.ts';

// Bytes that are all there are hashed at once: an object for each would have to be collected.

/** MD5 of some bytes: 16 bytes. */
export function md5(bytes: Uint8Array): Uint8Array {
  return crypto.hash('md5', bytes, 'buffer');
}

/** MD5 of some bytes as lower-case hex: how ckeys, ekeys and object names are written. */
export function md5Hex(bytes: Uint8Array): string {
  return toHex(md5(bytes));
}

/** SHA-1 of some bytes: 20 bytes. */
export function sha1(bytes: Uint8Array): Uint8Array {
  return crypto.hash('sha1', bytes, 'buffer');
}

/** True when bytes have a SHA-1 of 20 bytes. A text of one character a byte costs a third of an array of them. */
export function isSha1(bytes: Uint8Array, expected: Uint8Array): boolean {
  const found = crypto.hash('sha1', bytes, 'binary');
  for (let i = 0; i < found.length; i++) if (found.charCodeAt(i) !== expected[i]) return false;
  return true;
}

/** SHA-256 of some bytes: 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return crypto.hash('sha256', bytes, 'buffer');
}

/** A hash of bytes that come piece by piece. */
export interface Hasher {
  update(bytes: Uint8Array): unknown;
  /** The digest; the hasher is spent. */
  digest(): Uint8Array;
  /** Another that has hashed the same, while this one goes on. */
  copy(): Hasher;
}

/** MD5 over pieces that arrive one after the other. */
export function md5Hasher(): Hasher {
  return crypto.createHash('md5');
}

/** SHA-1 over pieces that arrive one after the other. */
export function sha1Hasher(): Hasher {
  return crypto.createHash('sha1');
}

/** SHA-256 over pieces that arrive one after the other. */
export function sha256Hasher(): Hasher {
  return crypto.createHash('sha256');
}

/**
 * A hash of 32 bits of a text, for a table in memory: its UTF-16 units are mixed as MurmurHash3 mixes words, with a factor nobody knows before.
 * @param seed a random number of 32 bits, so that nobody can make texts that all have one hash
 */
export function seededHash(text: string, seed: number): number {
  const factor = (seed ^ 0xcc9e2d51) | 1;
  let hash = seed;
  for (let i = 0; i < text.length; i++) {
    const unit = Math.imul(text.charCodeAt(i) + 1, factor);
    hash ^= Math.imul((unit << 15) | (unit >>> 17), 0x1b873593);
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
