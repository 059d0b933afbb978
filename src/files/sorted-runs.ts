import * as fs from 'node:fs';
import { sortRecords } from '../core/tables/sort-records.ts';
import { makeFolderDurable, writeAll } from './durable.ts';
import { readAt } from './read-at.ts';
import { removeTemporary, temporaryName } from './temporary.ts';

/** Rows that are sorted in memory before they go to disk, and bytes that are read of each such run at a time. */
const runRows = 1 << 18;
const windowBytes = 1 << 16;

/** The rows of one run, from `next` on. */
interface Run {
  next: number;
  end: number;
  window: Uint8Array;
  at: number;
  /** The first row that was not given out. */
  head: Uint8Array | undefined;
}

/** Sorts any number of records of one size in little memory: runs of them are sorted and put on disk, and merged as they are read. Needs `close`. */
export class SortedRuns {
  readonly #stride: number;
  readonly #keySize: number;
  readonly #name: string;
  readonly #fd: number;
  readonly #ends: number[] = [];
  readonly #rows: Buffer;
  #count = 0;

  /** @param keySize how many of a row's leading bytes decide; of equal ones the first added comes first */
  constructor(temporary: string, { stride, keySize }: { stride: number; keySize: number }) {
    this.#stride = stride;
    this.#keySize = keySize;
    makeFolderDurable(temporary);
    this.#name = temporaryName(temporary);
    this.#fd = fs.openSync(this.#name, 'wx+');
    this.#rows = Buffer.allocUnsafe(runRows * stride);
  }

  /** Forgets everything. */
  close(): void {
    fs.closeSync(this.#fd);
    removeTemporary(this.#name);
  }

  /** Memory for one more row, to be filled before the next call. */
  add(): Buffer {
    if (this.#count === runRows) this.#spill();
    this.#count += 1;
    return this.#rows.subarray((this.#count - 1) * this.#stride, this.#count * this.#stride);
  }

  #spill(): void {
    if (this.#count === 0) return;
    const bytes = sortRecords(this.#rows.subarray(0, this.#count * this.#stride), this.#stride, this.#keySize);
    const start = this.#ends.at(-1) ?? 0;
    writeAll(this.#fd, bytes, start);
    this.#ends.push(start + bytes.length);
    this.#count = 0;
  }

  /** All rows in order. More can be added meanwhile: they are there when all are read again. */
  *rows(): Generator<Uint8Array> {
    this.#spill();
    const runs = this.#ends.map(
      (end, i): Run => ({ next: this.#ends[i - 1] ?? 0, end, window: new Uint8Array(0), at: 0, head: undefined }),
    );
    for (const run of runs) run.head = this.#row(run);
    for (;;) {
      let first: Run | undefined;
      for (const run of runs) {
        if (run.head === undefined) continue;
        if (first?.head === undefined || this.#compare(run.head, first.head) < 0) first = run;
      }
      if (first?.head === undefined) return;
      yield first.head;
      first.head = this.#row(first);
    }
  }

  #compare(a: Uint8Array, b: Uint8Array): number {
    for (let i = 0; i < this.#keySize; i++) {
      const difference = a[i]! - b[i]!;
      if (difference !== 0) return difference;
    }
    return 0;
  }

  #row(run: Run): Uint8Array | undefined {
    if (run.at === run.window.length) {
      const left = run.end - run.next;
      if (left === 0) return undefined;
      const size = Math.min(left, windowBytes - (windowBytes % this.#stride));
      run.window = readAt(this.#fd, run.next, size, 'sorted run');
      run.next += size;
      run.at = 0;
    }
    run.at += this.#stride;
    return run.window.subarray(run.at - this.#stride, run.at);
  }
}
