import { uintAt } from '../../core/bytes.ts';
import { sortRecords } from '../../core/sorting/sort-records.ts';
import { giveBack } from '../../core/tables/large-bytes.ts';
import { closeTemporary, inStore, openTemporary, type TemporaryFile, writeAll } from '../durable.ts';
import { readInto } from '../read-at.ts';

/** Rows that are sorted in memory before they go to disk, and bytes that are read of each such run at a time. */
const usualRunRows = 1 << 18;
const windowBytes = 1 << 16;

/** Bytes of rows that are handed on at a time. */
const pieceBytes = 1 << 16;
/** Bytes of a key that are compared as a number. */
const wordSize = 6;

/** The rows of one run, from `next` on. */
interface Run {
  next: number;
  end: number;
  memory: Uint8Array;
  window: Uint8Array;
  /** Where in the window the first row is that was not given out, and with what number it begins. */
  at: number;
  word: number;
}

/** Sorts any number of records of one size in little memory: runs of them are sorted and put on disk, and merged as they are read. Needs `close`. Whatever adds or reads throws E_STORE_FULL and E_STORE. */
export class SortedRuns {
  readonly #runRows: number;
  readonly #stride: number;
  readonly #keySize: number;
  readonly #file: TemporaryFile;
  readonly #ends: number[] = [];
  /** Where rows that are added lie. */
  readonly memory: Buffer;
  #count = 0;

  /**
   * @param shape.keySize how many of a row's leading bytes decide; of equal ones the first added comes first
   * @param shape.runRows how many are sorted in memory: two rows of memory each
   */
  constructor(temporary: string, shape: { stride: number; keySize: number; runRows?: number }) {
    const { stride, keySize, runRows = usualRunRows } = shape;
    this.#runRows = runRows;
    this.#stride = stride;
    this.#keySize = keySize;
    this.#file = openTemporary(temporary);
    this.memory = Buffer.allocUnsafeSlow(runRows * stride);
  }

  /** Forgets everything, and gives the memory back to the system. */
  close(): void {
    closeTemporary(this.#file);
    giveBack(this.memory);
  }

  /** Memory for one more row, to be filled before the next call. */
  add(): Buffer {
    const at = this.addAt();
    return this.memory.subarray(at, at + this.#stride);
  }

  /** As {@link add}, without a view: where in {@link memory} the row lies. */
  addAt(): number {
    if (this.#count === this.#runRows) this.#spill();
    this.#count += 1;
    return (this.#count - 1) * this.#stride;
  }

  /** Adds rows that are sorted already, in pieces. */
  addRun(pieces: Iterable<Uint8Array>): void {
    this.#spill();
    const start = this.#ends.at(-1) ?? 0;
    let end = start;
    for (const piece of pieces) {
      const at = end;
      inStore(this.#file.name, () => writeAll(this.#file.fd, piece, at));
      end += piece.length;
    }
    if (end > start) this.#ends.push(end);
  }

  #spill(): void {
    const rows = this.memory.subarray(0, this.#count * this.#stride);
    this.#count = 0;
    if (rows.length === 0) return;
    const sorted = sortRecords(rows, this.#stride, this.#keySize);
    this.addRun([sorted]);
    giveBack(sorted);
  }

  /** All rows in order. More can be added meanwhile: they are there when all are read again. */
  *rows(): Generator<Uint8Array> {
    for (const piece of this.pieces()) {
      for (let at = 0; at < piece.length; at += this.#stride) yield piece.subarray(at, at + this.#stride);
    }
  }

  /** As {@link rows}, many rows at a time: each piece has whole rows, and is the caller's. */
  *pieces(): Generator<Uint8Array> {
    this.#spill();
    const stride = this.#stride;
    const size = Math.max(stride, pieceBytes - (pieceBytes % stride));
    const windowSize = Math.max(stride, windowBytes - (windowBytes % stride));
    let runs = this.#ends.map((end, i): Run => {
      const next = this.#ends[i - 1] ?? 0;
      const memory = Buffer.allocUnsafe(Math.min(end - next, windowSize));
      return { next, end, memory, window: memory.subarray(0, 0), at: 0, word: 0 };
    });
    runs = runs.filter((run) => this.#load(run));
    while (runs.length > 0) {
      const piece = new Uint8Array(size);
      let filled = 0;
      while (filled < size && runs.length > 0) {
        const first = this.#first(runs);
        const { window, at } = first;
        for (let i = 0; i < stride; i++) piece[filled + i] = window[at + i]!;
        filled += stride;
        first.at += stride;
        if (!this.#load(first)) runs = runs.filter((run) => run !== first);
      }
      yield piece.subarray(0, filled);
    }
  }

  /** The run with the least row; of equal ones that which was made first. */
  #first(runs: readonly Run[]): Run {
    let first = runs[0]!;
    for (let i = 1; i < runs.length; i++) {
      const run = runs[i]!;
      if (run.word < first.word || (run.word === first.word && this.#compare(run, first) < 0)) first = run;
    }
    return first;
  }

  #compare(a: Run, b: Run): number {
    for (let i = 0; i < this.#keySize; i++) {
      const difference = a.window[a.at + i]! - b.window[b.at + i]!;
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /** Sees to it that the next row of a run is in its window; false at the end. */
  #load(run: Run): boolean {
    if (run.at === run.window.length) {
      const left = run.end - run.next;
      if (left === 0) return false;
      const size = Math.min(left, run.memory.length);
      // Its memory is used again: what stood there was given out as a copy.
      if (run.window.length !== size) run.window = run.memory.subarray(0, size);
      readInto(this.#file.fd, run.window, { offset: run.next, what: 'sorted run' });
      run.next += size;
      run.at = 0;
    }
    run.word = uintAt(run.window, run.at, Math.min(wordSize, this.#keySize));
    return true;
  }
}
