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
