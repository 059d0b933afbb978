import { formatError } from '../errors.ts';
import { prefixAt, prefixStarts } from './prefix-starts.ts';

/** Tables of so many rows are looked up by way of the first two bytes of a key; smaller ones are halved at once. */
const manyRows = 0x10000;

/**
 * Records of one size that stay bytes: a row is a view, made when asked for.
 * Two million rows cost what their bytes cost; as objects they cost ten times that.
 */
export class RecordTable {
  readonly bytes: Uint8Array;
  readonly stride: number;
  readonly count: number;
  /** For tables of many rows; made when it is first needed. */
  #starts: Uint32Array | undefined;

  /**
   * @param bytes the records, one after the other; anything behind the last whole one is not seen
   * @param stride bytes of one record
   * @throws E_FORMAT_TRUNCATED when `count` records do not fit
   */
  constructor(bytes: Uint8Array, stride: number, count = Math.floor(bytes.length / stride)) {
    if (count * stride > bytes.length) {
      const problem = `${count} records of ${stride} bytes do not fit into ${bytes.length}`;
      throw formatError('E_FORMAT_TRUNCATED', 'record table', problem);
    }
    this.bytes = bytes;
    this.stride = stride;
    this.count = count;
  }

  /** Row `index` as a view of its bytes. */
  at(index: number): Uint8Array {
    return this.bytes.subarray(index * this.stride, (index + 1) * this.stride);
  }

  /**
   * Number of the first row whose leading bytes are not below `key`; `count` when all are. Rows must be sorted.
   * @param at where the key lies in `key`, and `size` its bytes, for those who have many of them: no view is made of any
   */
  lowerBound(key: Uint8Array, at = 0, size = key.length - at): number {
    let low = 0;
    let high = this.count;
    if (high >= manyRows && size >= 2 && this.stride >= 2) {
      this.#starts ??= prefixStarts(this.bytes.subarray(0, this.count * this.stride), this.stride);
      const prefix = prefixAt(key, at);
      low = this.#starts[prefix]!;
      high = this.#starts[prefix + 1]!;
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(middle, key, at, size) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Order of the leading bytes of a row and of a key, as `memcmp`; a row that starts with the key is equal. @param at as {@link lowerBound} has it */
  compare(row: number, key: Uint8Array, at = 0, size = key.length - at): number {
    const start = row * this.stride;
    const shared = Math.min(size, this.stride);
    for (let i = 0; i < shared; i++) {
      const difference = this.bytes[start + i]! - key[at + i]!;
      if (difference !== 0) return difference;
    }
    return shared - size;
  }

  /** Number of the first row that starts with `key`; -1 where none does. Rows must be sorted. @param at as {@link lowerBound} has it */
  indexOf(key: Uint8Array, at = 0, size = key.length - at): number {
    const row = this.lowerBound(key, at, size);
    return row < this.count && this.compare(row, key, at, size) === 0 ? row : -1;
  }

  /** The first row that starts with `key`, or undefined. Rows must be sorted. */
  find(key: Uint8Array): Uint8Array | undefined {
    const row = this.indexOf(key);
    return row === -1 ? undefined : this.at(row);
  }

  /** A table of the rows that pass, copied, in the same order. */
  where(passes: (row: number) => boolean): RecordTable {
    const bytes = new Uint8Array(this.count * this.stride);
    let count = 0;
    for (let row = 0; row < this.count; row++) {
      if (!passes(row)) continue;
      bytes.set(this.at(row), count * this.stride);
      count += 1;
    }
    return new RecordTable(bytes.slice(0, count * this.stride), this.stride);
  }

  *[Symbol.iterator](): Generator<Uint8Array> {
    for (let i = 0; i < this.count; i++) yield this.at(i);
  }
}
