import * as fs from 'node:fs';
import { breathe } from '../core/breathe.ts';
import { formatError } from '../core/errors.ts';
import { RecordTable } from '../core/tables/record-table.ts';
import { DurableFile } from '../files/durable.ts';
import { readAt } from '../files/read-at.ts';

/*
 * A derived look-up file: sorted records of one size, found by their leading bytes with a few page reads; nothing is loaded.
 *
 *   0   "PRLF"             magic
 *   4   u8   version       1
 *   5   u8   stride        bytes of a record
 *   6   u16  zero
 *   8   u32  count
 *   12  u32  zero
 *   16  records
 *
 * It can be made again from what it was derived of; a file that is not as said is made again.
 */
const magic = 'PRLF';
const version = 1;
const headerSize = 16;
const pageBytes = 4096;
/** Rows that are written before the clock is looked at. */
const rowsPerTurn = 1024;

/**
 * Writes a look-up file.
 * @param rows sorted; each piece is one row or many
 * @returns how many rows they were
 * @throws E_ABORTED, E_STORE…
 */
export async function writeLookupFile(
  path: string,
  { stride, rows }: { stride: number; rows: Iterable<Uint8Array> },
  temporary: string,
  signal?: AbortSignal,
): Promise<number> {
  const file = new DurableFile(temporary);
  try {
    file.append(headOf(stride, 0));
    let appended = 0;
    for (const piece of rows) {
      file.append(piece);
      appended += 1;
      if (appended % rowsPerTurn === 0) await breathe(signal);
    }
    const count = (file.size - headerSize) / stride;
    file.finish(path, headOf(stride, count));
    return count;
  } finally {
    file.close();
  }
}

function headOf(stride: number, count: number): Buffer {
  const head = Buffer.alloc(headerSize);
  head.write(magic, 0, 'latin1');
  head[4] = version;
  head[5] = stride;
  head.writeUInt32BE(count, 8);
  return head;
}

/** An open look-up file. Needs `close`. */
export class LookupFile {
  readonly count: number;
  readonly stride: number;
  readonly #fd: number;
  readonly #perPage: number;
  #cached: { page: number; rows: RecordTable } | undefined;

  /** @throws E_FORMAT… when it is not a whole look-up file; ENOENT as it comes */
  constructor(path: string) {
    this.#fd = fs.openSync(path, 'r');
    try {
      const head = Buffer.alloc(headerSize);
      fs.readSync(this.#fd, head, 0, headerSize, 0);
      this.stride = head.readUInt8(5);
      this.count = head.readUInt32BE(8);
      const right = head.toString('latin1', 0, 4) === magic && head[4] === version && this.stride > 0;
      if (!right || fs.fstatSync(this.#fd).size !== headerSize + this.count * this.stride) {
        throw formatError('E_FORMAT', 'look-up file', `${path} is not whole`);
      }
    } catch (error) {
      fs.closeSync(this.#fd);
      throw error;
    }
    this.#perPage = Math.max(1, Math.floor(pageBytes / this.stride));
  }

  close(): void {
    fs.closeSync(this.#fd);
  }

  /** Rows [first, first + count) as a table of their own. */
  rows(first: number, count: number): RecordTable {
    const size = Math.max(0, Math.min(count, this.count - first)) * this.stride;
    return new RecordTable(readAt(this.#fd, headerSize + first * this.stride, size, 'look-up file'), this.stride);
  }

  #page(page: number): RecordTable {
    if (this.#cached?.page !== page) this.#cached = { page, rows: this.rows(page * this.#perPage, this.#perPage) };
    return this.#cached.rows;
  }

  /** Number of the first row that is not below `key`. */
  lowerBound(key: Uint8Array): number {
    let low = 0;
    let high = Math.ceil(this.count / this.#perPage);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const rows = this.#page(middle);
      if (rows.lowerBound(key) === rows.count) low = middle + 1;
      else high = middle;
    }
    if (low * this.#perPage >= this.count) return this.count;
    return low * this.#perPage + this.#page(low).lowerBound(key);
  }

  /** Every row that starts with `key`, in order. */
  *find(key: Uint8Array): Generator<Uint8Array> {
    for (let row = this.lowerBound(key); row < this.count; row++) {
      const bytes = this.#page(Math.floor(row / this.#perPage)).at(row % this.#perPage);
      if (Buffer.compare(bytes.subarray(0, key.length), key) !== 0) return;
      yield bytes;
    }
  }

  /** Every row that starts with a u32, in order. */
  findNumber(key: number): Generator<Uint8Array> {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(key);
    return this.find(bytes);
  }

  /** All rows, read in large pieces. */
  *[Symbol.iterator](): Generator<Uint8Array> {
    for (const rows of this.tables()) yield* rows;
  }

  /** All rows in large pieces, for those who go through millions and want no view of each. */
  *tables(): Generator<RecordTable> {
    const step = this.#perPage * 64;
    for (let first = 0; first < this.count; first += step) yield this.rows(first, step);
  }
}
