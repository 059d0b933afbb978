import { formatError } from '../../../core/errors.ts';
import type { ByteReader } from '../../../core/reader.ts';

/*
 * Two primitives of a serialized marisa-trie, little-endian:
 *
 *   array        u64 size in bytes; the bytes; zeros up to a multiple of 8
 *   bit vector   array of u32 (bit i is bit i mod 8 of byte i div 8); u32 bits; u32 set bits;
 *                arrays of ranks (12 bytes each), of places of zeros and of ones (u32): skipped, they follow from the bits
 *
 * Known from the marisa-trie library, and checked on what it writes.
 */

/** The bytes of an array whose elements have `each` bytes; a view. @throws E_FORMAT_TRUNCATED, E_FORMAT_RANGE */
export function readArray(reader: ByteReader, each: number): Uint8Array {
  const offset = reader.pos;
  const size = reader.u64le();
  if (size % each !== 0) {
    throw formatError('E_FORMAT_RANGE', reader.what, `array of ${size} bytes, with ${each} each`, { offset });
  }
  const bytes = reader.take(size);
  reader.skip((8 - (size % 8)) % 8);
  return bytes;
}

/** Reads a bit vector; its index is made anew. @throws E_FORMAT… */
export function readBitVector(reader: ByteReader): BitVector {
  const bytes = readArray(reader, 4);
  const offset = reader.pos;
  const size = reader.u32le();
  const ones = reader.u32le();
  for (const each of [12, 4, 4]) readArray(reader, each);
  if (size > bytes.length * 8) {
    throw formatError('E_FORMAT_RANGE', reader.what, `${size} bits in ${bytes.length} bytes`, { offset });
  }
  const vector = new BitVector(bytes, size);
  if (vector.ones !== ones) {
    const facts = { offset, expected: vector.ones, found: ones };
    throw formatError('E_FORMAT', reader.what, 'wrong number of set bits', facts);
  }
  return vector;
}

/** Bits of which it is quickly told how many are set before a place. */
export class BitVector {
  readonly size: number;
  readonly ones: number;
  readonly #bytes: Uint8Array;
  /** Set bits before each 32. */
  readonly #before: Uint32Array;

  /** @param bytes a multiple of 4 of them */
  constructor(bytes: Uint8Array, size: number) {
    this.#bytes = bytes;
    this.size = size;
    const words = Math.ceil(size / 32);
    this.#before = new Uint32Array(words + 1);
    for (let word = 0; word < words; word++) {
      const left = size - word * 32;
      this.#before[word + 1] = this.#before[word]! + countBits(this.#word(word) & lowBits(Math.min(left, 32)));
    }
    this.ones = this.#before[words]!;
  }

  #word(index: number): number {
    const at = index * 4;
    const bytes = this.#bytes;
    return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  }

  /** Whether bit `i` is set; false behind the last. */
  has(i: number): boolean {
    return i < this.size && ((this.#bytes[i >>> 3]! >>> (i & 7)) & 1) !== 0;
  }

  /** Number of set bits before bit `i`. */
  rank(i: number): number {
    if (i >= this.size) return this.ones;
    return this.#before[i >>> 5]! + countBits(this.#word(i >>> 5) & lowBits(i & 31));
  }

  /** Place of the set bit with this number, counted from 0; there must be one. */
  select(number: number): number {
    let low = 0;
    let high = this.#before.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#before[middle]! <= number) low = middle;
      else high = middle;
    }
    let left = number - this.#before[low]!;
    let i = low * 32;
    for (; ; i++) if (this.has(i) && left-- === 0) return i;
  }
}

function lowBits(count: number): number {
  return count === 32 ? -1 : (1 << count) - 1;
}

function countBits(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
