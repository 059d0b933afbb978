import { tmpdir } from 'node:os';
import { compareParts, u32At, writeU32 } from '../../core/bytes.ts';
import { mergeSort } from '../../core/sorting/merge-sort.ts';
import { giveBack } from '../../core/tables/large-bytes.ts';
import { closeTemporary, inStore, openTemporary, type TemporaryFile, writeAll } from '../durable.ts';
import { readInto } from '../read-at.ts';
import { clearDeadTemporaries } from '../temporary.ts';

/** Bytes that are sorted in memory before they go to disk, and bytes that are read of each such run at a time. */
const runBytes = 1 << 23;
const windowBytes = 1 << 18;
/** Memory that there is at first. */
const firstBytes = 1 << 16;
const headSize = 8;
/** Room for the part of a text that ends a window. */
const spareBytes = 1 << 10;
/** Up to here bytes are copied one by one. */
const fewBytes = 128;

/** Texts that are sorted in the system's folder for temporary files. What killed runs left there goes first. */
export function sortedInSystemFolder(): SortedTexts {
  clearDeadTemporaries(tmpdir());
  return new SortedTexts(tmpdir(), '.pakrat-');
}

/** A text and what was put beside it: they hold until the next row is asked for. The views are made when they are asked for. */
export interface SortedText {
  readonly text: Buffer;
  readonly beside: Buffer;
  /** Where both lie: the text ends where what is beside it starts. */
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/**
 * Sorts any number of texts by their bytes in little memory; of equal ones the first that was added comes first. Runs of them are sorted and put
 * on disk, and merged as they are read; a few need no disk. Needs `close`. Whatever adds or reads throws E_STORE_FULL and E_STORE.
 */
export class SortedTexts {
  readonly #temporary: string | undefined;
  readonly #prefix: '' | '.pakrat-';
  /** The file of the runs, once there is one. */
  #file: TemporaryFile | undefined;
  /** Where in the file each run ends. */
  readonly #ends: number[] = [];
  #memory = Buffer.allocUnsafe(firstBytes);
  /** As large, for texts in order. */
  #other = Buffer.allocUnsafe(0);
  #filled = 0;
  /** Where in memory each text starts, with the sizes before it. */
  #starts = new Uint32Array(1 << 10);
  #count = 0;

  /**
   * @param temporary a folder, which is made; without it all stays in memory
   * @param prefix as temporaryName has it
   */
  constructor(temporary: string | undefined, prefix: '' | '.pakrat-' = '') {
    this.#temporary = temporary;
    this.#prefix = prefix;
  }

  /** Forgets everything. */
  close(): void {
    if (this.#file !== undefined) closeTemporary(this.#file);
    this.#file = undefined;
  }

  /** @param beside bytes that come back with the text */
  add(text: string, beside: Uint8Array): void {
    const at = this.#begin(headSize + text.length * 3 + beside.length);
    this.#end(at, this.#memory.write(text, at + headSize), beside);
  }

  /** As {@link add}, of the bytes [start, end) of UTF-8 text: byte by byte, as to make a view of a few takes longer. */
  addBytes(bytes: Uint8Array, start: number, { end, beside }: { end: number; beside: Uint8Array }): void {
    const at = this.#begin(headSize + end - start + beside.length);
    const memory = this.#memory;
    for (let from = start, to = at + headSize; from < end; ) memory[to++] = bytes[from++]!;
    this.#end(at, end - start, beside);
  }

  /** Sees to it that there is memory for a text. @returns where */
  #begin(most: number): number {
    if (this.#filled + most > runBytes && this.#temporary !== undefined) this.#spill(this.#temporary);
    this.#reserve(most);
    return this.#filled;
  }

  #end(at: number, size: number, beside: Uint8Array): void {
    const memory = this.#memory;
    writeU32(memory, at, size);
    writeU32(memory, at + 4, beside.length);
    const to = at + headSize + size;
    if (beside.length > fewBytes) memory.set(beside, to);
    else for (let i = 0; i < beside.length; i++) memory[to + i] = beside[i]!;
    if (this.#count === this.#starts.length) {
      const more = new Uint32Array(2 * this.#count);
      more.set(this.#starts);
      this.#starts = more;
    }
    this.#starts[this.#count++] = at;
    this.#filled = to + beside.length;
  }

  #reserve(size: number): void {
    const needed = this.#filled + size;
    if (needed <= this.#memory.length) return;
    const doubled = this.#memory.length * 2;
    const larger = Buffer.allocUnsafe(
      Math.max(needed, this.#temporary === undefined ? doubled : Math.min(doubled, runBytes)),
    );
    this.#memory.copy(larger, 0, 0, this.#filled);
    this.#memory = larger;
  }

  #spill(temporary: string): void {
    if (this.#filled === 0) return;
    this.#sort();
    this.#file ??= openTemporary(temporary, this.#prefix);
    const from = this.#ends.at(-1) ?? 0;
    const { name, fd } = this.#file;
    inStore(name, () => writeAll(fd, this.#memory.subarray(0, this.#filled), from));
    this.#ends.push(from + this.#filled);
    this.#filled = 0;
    this.#count = 0;
  }

  /** Puts what is in memory in order. */
  #sort(): void {
    // Used for each run: memory of its own would wait to be collected.
    if (this.#other.length < this.#filled) this.#other = Buffer.allocUnsafe(this.#memory.length);
    const sorted = inOrder(this.#memory, this.#starts.subarray(0, this.#count), this.#other);
    if (sorted === this.#other) [this.#memory, this.#other] = [this.#other, this.#memory];
    let at = 0;
    for (let i = 0; i < this.#count; i++) {
      this.#starts[i] = at;
      at += headSize + u32At(sorted, at) + u32At(sorted, at + 4);
    }
  }

  #runs(): Run[] {
    if (this.#file !== undefined && this.#temporary !== undefined) {
      this.#spill(this.#temporary);
      giveBack(this.#memory, this.#other);
      this.#memory = Buffer.allocUnsafe(firstBytes);
      this.#other = Buffer.allocUnsafe(0);
      const { fd } = this.#file;
      return this.#ends.map((end, i) => new Run(fd, this.#ends[i - 1] ?? 0, end));
    }
    this.#sort();
    const run = new Run(-1, 0, 0);
    run.bytes = this.#memory.subarray(0, this.#filled);
    return [run];
  }

  /** All texts in order; more than once, if need be. */
  *rows(): Generator<SortedText> {
    const runs = this.#runs()
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

/** Puts the texts in memory in order, there or in another memory. @param starts of the texts, ascending @returns which has them */
function inOrder(memory: Buffer, starts: Uint32Array, other: Buffer): Buffer {
  const order = mergeSort(starts, (a, b) => compareTexts(memory, a, b));
  // Where nothing moved, what is in memory is in order.
  if (order.every((start, i) => i === 0 || start > order[i - 1]!)) return memory;
  let filled = 0;
  for (const start of order) {
    const end = start + headSize + u32At(memory, start) + u32At(memory, start + 4);
    // Byte by byte: to make a view of a few bytes takes longer.
    if (end - start > fewBytes) filled += memory.copy(other, filled, start, end);
    else for (let at = start; at < end; at++) other[filled++] = memory[at]!;
  }
  return other;
}

/** Compares the texts at two places of a memory: {@link compareParts} without an object for each. */
function compareTexts(memory: Uint8Array, a: number, b: number): number {
  const difference = u32At(memory, a) - u32At(memory, b);
  const end = a + headSize + u32At(memory, difference < 0 ? a : b);
  for (let i = a + headSize, j = b + headSize; i < end; i++, j++) {
    if (memory[i] !== memory[j]) return memory[i]! - memory[j]!;
  }
  return difference;
}

/** A run on disk, or all of it in `bytes`, and the text that is next in it. */
class Run implements SortedText {
  bytes: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;
  /** Where in the file the run starts. */
  readonly runStart: number;
  readonly #fd: number;
  readonly #end: number;
  #offset: number;
  #window = Buffer.alloc(0);
  #at = 0;

  constructor(fd: number, start: number, end: number) {
    this.#fd = fd;
    this.runStart = start;
    this.#offset = start;
    this.#end = end;
  }

  get text(): Buffer {
    return this.bytes.subarray(this.start, this.end);
  }

  get beside(): Buffer {
    return this.bytes.subarray(this.end, this.#at);
  }

  /** Goes to the next text; false at the end. */
  next(): boolean {
    if (this.#at === this.bytes.length && this.#offset === this.#end) return false;
    this.#need(headSize);
    const size = u32At(this.bytes, this.#at);
    const besideSize = u32At(this.bytes, this.#at + 4);
    this.#need(headSize + size + besideSize);
    this.start = this.#at + headSize;
    this.end = this.start + size;
    this.#at = this.end + besideSize;
    return true;
  }

  /** Sees to it that the next bytes are in the window. */
  #need(size: number): void {
    const rest = this.bytes.length - this.#at;
    if (rest >= size) return;
    const more = Math.min(Math.max(windowBytes, size - rest), this.#end - this.#offset);
    // What was read before is not looked at any more: its memory is used again.
    if (this.#window.length < rest + more) this.#window = Buffer.allocUnsafe(rest + more + spareBytes);
    this.bytes.copy(this.#window, 0, this.#at);
    this.bytes = this.#window.subarray(0, rest + more);
    readInto(this.#fd, this.bytes.subarray(rest), { offset: this.#offset, what: 'sorted run' });
    this.#offset += more;
    this.#at = 0;
  }
}

/** Equal texts come from the run that was made first. */
function compareRuns(a: Run, b: Run): number {
  return compareParts(a.bytes, a, b.bytes, b) || a.runStart - b.runStart;
}
