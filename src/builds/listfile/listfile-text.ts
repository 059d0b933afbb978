import { asBuffer, type BytePart } from '../../core/bytes.ts';
import type { DerivedFile } from '../../store/derived/derived-file.ts';
import { DerivedWriter } from '../../store/derived/derived-writer.ts';

/* The lines of BASE.names, written and read as bytes: of millions no object and no text is made for each. */

/** The offset and the bytes of a name in the text: names are sorted as their offsets are. */
export interface NamePlace {
  at: number;
  size: number;
}

/** A name as the bytes [start, end) of UTF-8 text. */
export interface NameBytes extends BytePart {
  bytes: Uint8Array;
}

/** Bytes of lines that are written at a time, and the most that a line has: ids have ten digits, names what a row of a look-up file can say. */
const lineBytes = 1 << 17;
const mostOfLine = 0xffff + 12;

/** Up to here bytes are copied one by one: to make a view of them takes longer. */
const fewBytes = 128;

/** Writes the lines of BASE.names. Needs `close`. Throws as {@link DerivedWriter}. */
export class TextWriter {
  readonly #file: DerivedWriter;
  readonly #lines = new Uint8Array(lineBytes);
  #filled = 0;

  constructor(temporary: string) {
    this.#file = new DerivedWriter(temporary);
  }

  close(): void {
    this.#file.close();
  }

  /** Adds a line. @returns the offset of the name in the text */
  add(id: number | undefined, { bytes, start, end }: NameBytes): number {
    if (this.#filled + mostOfLine > lineBytes) this.#write();
    const lines = this.#lines;
    if (id !== undefined) this.#addDigits(id);
    lines[this.#filled++] = 0x3b;
    const at = this.#file.size + this.#filled;
    for (let from = start; from < end; from++) lines[this.#filled++] = bytes[from]!;
    lines[this.#filled++] = 0x0a;
    return at;
  }

  /** Adds lines as they are. @returns where they begin in the text */
  addLines(bytes: Uint8Array, start: number, end: number): number {
    const size = end - start;
    if (this.#filled + size > lineBytes) this.#write();
    const at = this.#file.size + this.#filled;
    if (size > lineBytes) {
      this.#file.append(bytes.subarray(start, end));
      return at;
    }
    if (size > fewBytes) this.#lines.set(bytes.subarray(start, end), this.#filled);
    else for (let i = 0; i < size; i++) this.#lines[this.#filled + i] = bytes[start + i]!;
    this.#filled += size;
    return at;
  }

  #addDigits(id: number): void {
    let digits = 1;
    for (let rest = id; rest >= 10; rest = Math.floor(rest / 10)) digits += 1;
    for (let i = digits - 1, rest = id; i >= 0; i--, rest = Math.floor(rest / 10)) {
      this.#lines[this.#filled + i] = 0x30 + (rest % 10);
    }
    this.#filled += digits;
  }

  #write(): void {
    this.#file.append(this.#lines.subarray(0, this.#filled));
    this.#filled = 0;
  }

  /** Brings the text to disk, as {@link DerivedWriter.finishMeanwhile}. */
  finish(path: string): { mark: number; isDone: Promise<void> } {
    this.#write();
    return this.#file.finishMeanwhile(path);
  }
}

const pieceSize = 1 << 20;

/** A line of the text: its name, where that lies, and its id. */
export interface TextName extends NamePlace {
  id: number | undefined;
  name: string;
}

/** The names of the text, line by line. */
export function* namesOf(text: DerivedFile): Generator<TextName> {
  for (const { id, bytes, start, end, at } of linesOf(text)) {
    yield { id, name: asBuffer(bytes).toString('utf8', start, end), at, size: end - start };
  }
}

/** A line of the text as bytes: it holds until the next is asked for. */
interface TextLine extends NameBytes {
  id: number | undefined;
  /** Offset of the name in the text. */
  at: number;
}

/** The lines of the text. For millions of them no object is made of each. */
export function* linesOf(text: DerivedFile): Generator<TextLine> {
  const line: TextLine = { id: undefined, bytes: new Uint8Array(), start: 0, end: 0, at: 0 };
  let rest: Uint8Array = new Uint8Array();
  for (let offset = 0; offset < text.size; offset += pieceSize) {
    const read = text.read(offset, Math.min(pieceSize, text.size - offset));
    const bytes = rest.length === 0 ? read : Buffer.concat([rest, read]);
    const first = offset - rest.length;
    const whole = bytes.lastIndexOf(0x0a) + 1;
    line.bytes = bytes;
    for (let at = 0; at < whole; at = line.end + 1) {
      let id = 0;
      let end = at;
      for (; bytes[end] !== 0x3b && bytes[end] !== 0x0a; end++) id = id * 10 + bytes[end]! - 0x30;
      line.id = end === at ? undefined : id;
      line.start = end + 1;
      while (bytes[end] !== 0x0a) end += 1;
      line.end = end;
      line.at = first + line.start;
      yield line;
    }
    rest = bytes.subarray(whole);
  }
}
