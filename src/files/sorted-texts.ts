import * as fs from 'node:fs';
import { asBuffer } from '../core/bytes.ts';
import { makeFolderDurable, writeAll } from './durable.ts';
import { readAt } from './read-at.ts';
import { removeTemporary, temporaryName } from './temporary.ts';

/** Bytes that are sorted in memory before they go to disk, and bytes that are read of each such run at a time. */
const runBytes = 1 << 23;
const windowBytes = 1 << 18;
const headSize = 8;

/** A text and what was put beside it. Views: they hold until the next row is asked for. */
export interface SortedText {
  text: Buffer;
  beside: Buffer;
}

/**
 * Sorts any number of texts by their bytes in little memory; of equal ones the first that was added comes first. Runs of them are sorted and put
 * on disk, and merged as they are read. Needs `close`.
 */
export class SortedTexts {
  readonly #name: string;
  readonly #fd: number;
  /** Where in the file each run ends. */
  readonly #ends: number[] = [];
  #memory = Buffer.allocUnsafe(1 << 16);
  #filled = 0;
  #starts: number[] = [];

  constructor(temporary: string) {
    makeFolderDurable(temporary);
    this.#name = temporaryName(temporary);
    this.#fd = fs.openSync(this.#name, 'wx+');
  }

  /** Forgets everything. */
  close(): void {
    fs.closeSync(this.#fd);
    removeTemporary(this.#name);
  }

  /** @param beside bytes that come back with the text */
  add(text: string, beside: Uint8Array): void {
    const most = headSize + text.length * 3 + beside.length;
    if (this.#filled + most > runBytes) this.#spill();
    this.#reserve(most);
    const at = this.#filled;
    const size = this.#memory.write(text, at + headSize);
    this.#memory.writeUInt32BE(size, at);
    this.#memory.writeUInt32BE(beside.length, at + 4);
    this.#memory.set(beside, at + headSize + size);
    this.#starts.push(at);
    this.#filled += headSize + size + beside.length;
  }

  #reserve(size: number): void {
    const needed = this.#filled + size;
    if (needed <= this.#memory.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, Math.min(this.#memory.length * 2, runBytes)));
    this.#memory.copy(larger, 0, 0, this.#filled);
    this.#memory = larger;
  }

  #spill(): void {
    if (this.#filled === 0) return;
    const sorted = Buffer.allocUnsafe(this.#filled);
    let filled = 0;
    for (const i of this.#order()) {
      const end = this.#starts[i + 1] ?? this.#filled;
      // Byte by byte: to make a view of a few bytes takes longer.
      for (let at = this.#starts[i] ?? end; at < end; at++) sorted[filled++] = this.#memory[at]!;
    }
    const from = this.#ends.at(-1) ?? 0;
    writeAll(this.#fd, sorted, from);
    this.#ends.push(from + filled);
    this.#filled = 0;
    this.#starts = [];
  }

  /** Numbers of the texts in memory, sorted. A runtime sorts strings without calling back: so each has its number behind a byte below all others. */
  #order(): number[] {
    const keys = this.#starts.map((start, i) => {
      const key = this.#memory.toString(
        'latin1',
        start + headSize,
        start + headSize + this.#memory.readUInt32BE(start),
      );
      const number = String.fromCharCode(i >>> 16, (i >>> 8) & 0xff, i & 0xff);
      return `${escaped(key)}\0${number}`;
    });
    keys.sort();
    return keys.map((key) => {
      const [high, middle, low] = [-3, -2, -1].map((at) => key.charCodeAt(key.length + at));
      return ((high ?? 0) << 16) | ((middle ?? 0) << 8) | (low ?? 0);
    });
  }

  /** All texts in order; more than once, if need be. */
  *rows(): Generator<SortedText> {
    this.#spill();
    const runs = this.#ends
      .map((end, i) => new Run(this.#fd, this.#ends[i - 1] ?? 0, end))
      .filter((run) => run.next())
      .sort(compareRuns);
    for (let [first] = runs; first !== undefined; [first] = runs) {
      yield first;
      if (!first.next()) {
        runs.shift();
        continue;
      }
      // It mostly stays the first: names that are neighbours were often added as such.
      let at = 0;
      for (let other = runs[1]; other !== undefined && compareRuns(other, first) < 0; other = runs[at + 1]) {
        runs[at++] = other;
      }
      runs[at] = first;
    }
  }
}

/** A text of bytes in which none is 0, in the same order. */
function escaped(key: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the bytes that are replaced
  return /[\0\x01]/.test(key) ? key.replace(/[\0\x01]/g, (byte) => (byte === '\0' ? '\x01\x01' : '\x01\x02')) : key;
}

/** A run on disk, and the text that is next in it. */
class Run implements SortedText {
  text: Buffer = Buffer.alloc(0);
  beside: Buffer = Buffer.alloc(0);
  key = '';
  readonly start: number;
  readonly #fd: number;
  readonly #end: number;
  #offset: number;
  #window: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(fd: number, start: number, end: number) {
    this.#fd = fd;
    this.start = start;
    this.#offset = start;
    this.#end = end;
  }

  /** Goes to the next text; false at the end. */
  next(): boolean {
    if (this.#at === this.#window.length && this.#offset === this.#end) return false;
    this.#need(headSize);
    const size = this.#window.readUInt32BE(this.#at);
    const besideSize = this.#window.readUInt32BE(this.#at + 4);
    this.#need(headSize + size + besideSize);
    const start = this.#at + headSize;
    const end = start + size;
    this.text = this.#window.subarray(start, end);
    this.beside = this.#window.subarray(end, end + besideSize);
    this.key = this.#window.toString('latin1', start, end);
    this.#at = end + besideSize;
    return true;
  }

  /** Sees to it that the next bytes are in the window. */
  #need(size: number): void {
    const rest = this.#window.length - this.#at;
    if (rest >= size) return;
    const more = Math.min(Math.max(windowBytes, size - rest), this.#end - this.#offset);
    const read = asBuffer(readAt(this.#fd, this.#offset, more, 'sorted run'));
    this.#window = rest === 0 ? read : Buffer.concat([this.#window.subarray(this.#at), read]);
    this.#offset += more;
    this.#at = 0;
  }
}

/** Equal texts come from the run that was made first. */
function compareRuns(a: Run, b: Run): number {
  if (a.key === b.key) return a.start - b.start;
  return a.key < b.key ? -1 : 1;
}
