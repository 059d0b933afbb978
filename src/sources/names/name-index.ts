import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { readUpTo } from '../../files/read-at.ts';
import { removeTemporary } from '../../files/temporary.ts';

/*
 * The names of a source in a temporary file, so that two million of them take no memory: lines in the order of the bytes of the names.
 *
 *   name [FE other name [FE number]] FF       FE and FF are no bytes of UTF-8
 *
 * The other name is what whoever wrote them wants to know beside; the number is there where the source gives one.
 * Every so many bytes there is a mark in memory: a name is found by these and one short read.
 */
export const [fieldEnd, lineEnd] = [0xfe, 0xff];

/** Bytes between marks, and that a search reads at a time. */
export const [markEvery, windowSize] = [16 << 10, 1 << 20];

/** The place of a line, and the bytes of its name. */
export interface NameMark {
  at: number;
  name: Buffer;
}

/** A name of a source. */
export interface NameLine {
  name: string;
  /** What was written beside it; its name where that was nothing else. */
  other: string;
  /** Its number in the source, where it has one. */
  index: number | undefined;
  /** The place of its line, and of the line behind it. */
  at: number;
  next: number;
}

/** A file of names. */
export interface NameFile {
  path: string;
  fd: number;
  size: number;
  count: number;
  /** Lines from here on are not in the order of names: files that have none. */
  sortedEnd: number;
  marks: readonly NameMark[];
}

/** Whole lines, from a place on. */
interface Window {
  start: number;
  bytes: Buffer;
}

const read = promisify(fs.read);

/** The sorted names of a source. An open handle; needs `close`. */
export class NameIndex {
  readonly size: number;
  readonly count: number;
  readonly sortedEnd: number;
  readonly #file: NameFile;
  #window: Window | undefined;
  #isOpen = true;

  constructor(file: NameFile) {
    this.#file = file;
    this.size = file.size;
    this.count = file.count;
    this.sortedEnd = file.sortedEnd;
  }

  /** Closes the file and removes it. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    fs.closeSync(this.#file.fd);
    removeTemporary(this.#file.path);
  }

  /** The place of the first name that is not before `name`; the end of the sorted ones when all are. */
  lowerBound(name: Buffer): number {
    const { start, bytes } = this.#windowOf(name);
    return start + firstFrom(bytes, name);
  }

  /** The line of a name; undefined where there is none. Of several it is the first. */
  find(name: Buffer): NameLine | undefined {
    const { start, bytes } = this.#windowOf(name);
    const at = firstFrom(bytes, name);
    const end = bytes.indexOf(lineEnd, at);
    // The first line behind the window has the name of the mark there.
    const [line] = end < 0 ? this.lines(start + at) : [lineOf(bytes.subarray(at, end), start + at)];
    return line?.name === name.toString() ? line : undefined;
  }

  /** The lines between the marks around a name. Who looks for one mostly looks for its neighbours then. */
  #windowOf(name: Buffer): Window {
    const { marks } = this.#file;
    let [low, high] = [0, marks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Buffer.compare(marks[middle]?.name ?? name, name) < 0) low = middle + 1;
      else high = middle;
    }
    const start = marks[low - 1]?.at ?? 0;
    const size = (marks[low]?.at ?? this.sortedEnd) - start;
    const known = this.#window;
    if (known?.start === start && known.bytes.length === size) return known;
    this.#window = { start, bytes: this.#readNow(start, size) };
    return this.#window;
  }

  /** The place of the line that a place is in: for places that come from outside. */
  lineStart(place: number): number {
    const at = Math.min(Math.max(0, Math.trunc(place) || 0), this.size);
    if (at === 0 || at === this.size) return at;
    const start = Math.max(0, at - (64 << 10));
    return start + this.#readNow(start, at - start).lastIndexOf(lineEnd) + 1;
  }

  /** Lines from a place on. Their bytes are there until the next is asked for. */
  *lines(from: number): Generator<NameLine> {
    for (let at = from, size = markEvery; at < this.size; ) {
      const bytes = this.#readNow(at, Math.min(size, this.size - at));
      let start = 0;
      for (let end = bytes.indexOf(lineEnd); end >= 0; end = bytes.indexOf(lineEnd, start)) {
        yield lineOf(bytes.subarray(start, end), at + start);
        start = end + 1;
      }
      // One that is longer than what is read at a time.
      size = start === 0 ? size * 2 : markEvery;
      at += start;
    }
  }

  /** Whole lines from a place on, about {@link windowSize} bytes of them; none at the end. */
  async window(from: number, end: number, memory: Buffer): Promise<Buffer> {
    const size = Math.min(memory.length, end - from);
    if (size <= 0) return memory.subarray(0, 0);
    const { bytesRead } = await read(this.#file.fd, memory, 0, size, from);
    const last = memory.subarray(0, bytesRead).lastIndexOf(lineEnd) + 1;
    if (last > 0) return memory.subarray(0, last);
    return this.window(from, end, Buffer.allocUnsafe(memory.length * 2));
  }

  #readNow(at: number, size: number): Buffer {
    const bytes = Buffer.allocUnsafe(size);
    return bytes.subarray(0, readUpTo(this.#file.fd, bytes, at));
  }
}

/** Where in some lines the first begins whose name is not before a name; their end where all are. */
function firstFrom(lines: Buffer, name: Buffer): number {
  let [first, behind] = [0, lines.length];
  while (first < behind) {
    // Of the line in the middle the next is looked at, where there is one.
    const middle = lines.indexOf(lineEnd, (first + behind) >>> 1) + 1;
    const at = middle < behind ? middle : first;
    const next = lines.indexOf(lineEnd, at) + 1;
    if (Buffer.compare(nameBytes(lines.subarray(at, next)), name) < 0) first = next;
    else behind = at;
  }
  return first;
}

function nameBytes(line: Buffer): Buffer {
  const end = line.indexOf(fieldEnd);
  return line.subarray(0, end < 0 ? line.length - 1 : end);
}

/** A line without its end, and its place. */
export function lineOf(line: Buffer, at: number): NameLine {
  const end = line.indexOf(fieldEnd);
  const next = at + line.length + 1;
  if (end < 0) {
    const name = line.toString('utf8');
    return { name, other: name, index: undefined, at, next };
  }
  const second = line.indexOf(fieldEnd, end + 1);
  const index = second < 0 ? undefined : Number(line.toString('latin1', second + 1));
  const other = line.toString('utf8', end + 1, second < 0 ? line.length : second);
  return { name: line.toString('utf8', 0, end), other, index, at, next };
}
