import { compareBytes } from './bytes.ts';
import { formatError } from './errors.ts';

/**
 * Records of one size that stay bytes: a row is a view, made when asked for.
 * Two million rows cost what their bytes cost; as objects they cost ten times that.
 */
export class RecordTable {
  readonly bytes: Uint8Array;
  readonly stride: number;
  readonly count: number;

  /**
   * @param bytes the records, one after the other; anything behind the last whole one is not seen
   * @param stride bytes of one record
   * @throws E_FORMAT_TRUNCATED when `count` records do not fit
   */
  constructor(bytes: Uint8Array, stride: number, count = Math.floor(bytes.length / stride)) {
    if (count * stride > bytes.length) {
      throw formatError(
        'E_FORMAT_TRUNCATED',
        'record table',
        `${count} records of ${stride} bytes do not fit into ${bytes.length}`,
      );
    }
    this.bytes = bytes;
    this.stride = stride;
    this.count = count;
  }

  /** Row `index` as a view of its bytes. */
  at(index: number): Uint8Array {
    return this.bytes.subarray(index * this.stride, (index + 1) * this.stride);
  }

  /** Number of the first row whose leading bytes are not below `key`; `count` when all are. Rows must be sorted. */
  lowerBound(key: Uint8Array): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const start = middle * this.stride;
      if (compareBytes(this.bytes.subarray(start, start + key.length), key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The first row that starts with `key`, or undefined. Rows must be sorted. */
  find(key: Uint8Array): Uint8Array | undefined {
    const row = this.lowerBound(key);
    if (row === this.count) return undefined;
    const found = this.at(row);
    return compareBytes(found.subarray(0, key.length), key) === 0 ? found : undefined;
  }

  *[Symbol.iterator](): Generator<Uint8Array> {
    for (let i = 0; i < this.count; i++) yield this.at(i);
  }
}
