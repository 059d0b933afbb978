import { createHash } from 'node:crypto';
import { equalBytes, isAllZero, toHex } from '../../../core/bytes.ts';
import { PakratError } from '../../../core/errors.ts';

/** SHA-1 over the stored bytes of an entry, which come in order; padding behind them does not count. */
export class EntryHash {
  readonly #hash = createHash('sha1');
  readonly #storedSize: number;
  #at = 0;

  constructor(storedSize: number) {
    this.#storedSize = storedSize;
  }

  /** Bytes that do not follow the ones before are left out: then there is nothing to compare in the end. */
  update(bytes: Uint8Array, position: number): void {
    if (position !== this.#at || position >= this.#storedSize) return;
    const counted = bytes.subarray(0, Math.min(bytes.length, this.#storedSize - position));
    this.#hash.update(counted);
    this.#at += counted.length;
  }

  /** Throws E_INTEGRITY when all bytes were seen and the hash is another. An empty expected hash says nothing. */
  check(expected: Uint8Array, name: string): void {
    if (this.#at === this.#storedSize) expectSha1(this.#hash.digest(), expected, name);
  }
}

/** Throws E_INTEGRITY when the hash of an entry is another than the expected one. An empty expected hash says nothing. */
export function expectSha1(found: Uint8Array, expected: Uint8Array, name: string): void {
  if (isAllZero(expected) || equalBytes(found, expected)) return;
  throw new PakratError('E_INTEGRITY', `${name}: the stored bytes do not have the SHA-1 that they should`, {
    hint: 'The PAK is damaged, or was changed by hand.',
    data: { name, expected: toHex(expected), found: toHex(found) },
  });
}
