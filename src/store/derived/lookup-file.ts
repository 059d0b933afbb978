import { breathe } from '../../core/breathe.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import { DerivedFile, type DerivedOptions, derivedPageSize } from './derived-file.ts';
import { DerivedWriter } from './derived-writer.ts';

/*
 * A derived look-up file: sorted records of one size, found by their leading bytes with a few page reads; nothing is loaded. A page has
 * whole records only, so that a look-up checks what it reads and no more.
 */

/** Pages that are guessed before the rest is halved. */
const mostGuesses = 4;
/** Rows that are written before the clock is looked at. */
const rowsPerTurn = 1024;

interface LookupRows {
  /** Bytes of a record. */
  stride: number;
  /** Sorted; each piece is one row or many. */
  rows: Iterable<Uint8Array>;
  /** The mark of the file that the rows lead into. */
  of?: number | undefined;
}

/**
 * Writes a look-up file.
 * @returns how many rows they were
 * @throws E_ABORTED, E_STORE…
 */
export async function writeLookupFile(
  path: string,
  { stride, rows, of }: LookupRows,
  temporary: string,
  signal?: AbortSignal,
): Promise<number> {
  const file = new DerivedWriter(temporary, { pageSize: lookupRowsPerPage(stride) * stride, of });
  try {
    let appended = 0;
    for (const piece of rows) {
      file.append(piece);
      appended += piece.length / stride;
      if (appended < rowsPerTurn) continue;
      appended = 0;
      await breathe(signal);
    }
    file.finish(path);
    return file.size / stride;
  } finally {
    file.close();
  }
}

/** Rows of a page; what is written so many at a time, or a multiple, is not copied. */
export function lookupRowsPerPage(stride: number): number {
  return Math.max(1, Math.floor(derivedPageSize / stride));
}

/** An open look-up file. Needs `close`. Every method throws E_FORMAT_CHECKSUM where it is damaged. */
export class LookupFile {
  readonly count: number;
  readonly stride: number;
  readonly #file: DerivedFile;
  readonly #perPage: number;
  #endKeys: readonly [number, number] | undefined;
  #cached: { page: number; rows: RecordTable } | undefined;

  /** @throws ENOENT as it comes */
  constructor(path: string, { stride, of, keep }: DerivedOptions & { stride: number }) {
    this.#file = new DerivedFile(path, { of, keep });
    this.stride = stride;
    this.count = this.#file.size / stride;
    this.#perPage = lookupRowsPerPage(stride);
    if (this.#file.pageSize === this.#perPage * stride && Number.isInteger(this.count)) return;
    this.#file.close();
    throw this.#file.damage(`it has no records of ${stride} bytes`);
  }

  close(): void {
    this.#file.close();
  }

  /** Tells it from any other file. */
  get mark(): number {
    return this.#file.mark;
  }

  /** Checks all of it, as {@link DerivedFile.checkAll}. */
  checkAll(): Generator<number> {
    return this.#file.checkAll();
  }

  /** Rows [first, first + count) as a table of their own. @param memory as {@link DerivedFile.read} takes it */
  rows(first: number, count: number, memory?: Uint8Array): RecordTable {
    const size = Math.max(0, Math.min(count, this.count - first)) * this.stride;
    return new RecordTable(this.#file.read(first * this.stride, size, memory), this.stride);
  }

  /** One row; a page of them is kept for the next. */
  at(row: number): Uint8Array {
    return this.#page(Math.floor(row / this.#perPage)).at(row % this.#perPage);
  }

  #page(page: number): RecordTable {
    if (this.#cached?.page !== page) this.#cached = { page, rows: this.rows(page * this.#perPage, this.#perPage) };
    return this.#cached.rows;
  }

  /**
   * Number of the first row that is not below `key`. Keys are hashes or numbers with few gaps: from the keys at both ends the page is
   * guessed, mostly right, and halving is for keys that are neither.
   */
  lowerBound(key: Uint8Array): number {
    if (this.count === 0) return 0;
    const wanted = numberAt(key);
    const pages = Math.ceil(this.count / this.#perPage);
    let [low, high] = [0, pages];
    let [lowKey, highKey] = this.#ends();
    for (let guesses = mostGuesses; low < high; guesses--) {
      const share = guesses > 0 ? (wanted - lowKey) / (highKey - lowKey + 1) : 0.5;
      const page = Math.max(low, Math.min(high - 1, low + Math.floor(share * (high - low))));
      const rows = this.#page(page);
      const at = rows.lowerBound(key);
      if (at === rows.count) {
        low = page + 1;
        lowKey = numberAt(rows.at(at - 1));
      } else if (at > 0) {
        return page * this.#perPage + at;
      } else {
        high = page;
        highKey = numberAt(rows.at(0));
      }
    }
    return Math.min(low * this.#perPage, this.count);
  }

  /** The numbers with which the first row and the last begin. */
  #ends(): readonly [number, number] {
    if (this.#endKeys === undefined) {
      const last = this.rows(this.count - 1, 1);
      this.#endKeys = [numberAt(this.#page(0).at(0)), numberAt(last.at(0))];
    }
    return this.#endKeys;
  }

  /** Every row that starts with `key`, in order. */
  *find(key: Uint8Array): Generator<Uint8Array> {
    for (let row = this.lowerBound(key); row < this.count; row++) {
      const bytes = this.at(row);
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

  /**
   * All rows in large pieces, for those who go through millions and want no view of each.
   * @param isReused each piece holds until the next is asked for: memory for each would wait to be collected
   */
  *tables({ isReused = false } = {}): Generator<RecordTable> {
    const step = this.#perPage * 64;
    const memory = isReused ? Buffer.allocUnsafe(step * this.stride) : undefined;
    for (let first = 0; first < this.count; first += step) yield this.rows(first, step, memory);
  }
}

/** The number with which a row or a key begins. */
function numberAt(bytes: Uint8Array): number {
  return ((bytes[0] ?? 0) * 0x100 + (bytes[1] ?? 0)) * 0x10000 + (bytes[2] ?? 0) * 0x100 + (bytes[3] ?? 0);
}
