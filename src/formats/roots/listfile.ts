import { isUtf8 } from 'node:buffer';
import { asBuffer } from '../../core/bytes.ts';
import { formatError, isDamage } from '../../core/errors.ts';
import { ByteWriter } from '../../core/writer.ts';
import type { Format } from '../format.ts';
import { firstLine } from '../text-lines.ts';
import { type ListfileRow, ListfileRows, noListedId } from './listfile-rows.ts';

/*
 * A list of file names, as the community keeps it for World of Warcraft: UTF-8 text, a file a line.
 *
 *   121595;interface/icons/a.blp      file data id, ';', name
 *   ;interface/icons/b.blp            the id is not known
 *   interface/icons/c.blp             plain name lists have no ids at all
 *
 *   # text                           a comment
 *
 * Lines end with LF or CR LF; comments, blank lines and a byte order mark at the start are passed over. Names are kept as written:
 * their case, their kind of slash, and spaces. The list of today has about two million lines in 140 MB.
 * Source: the community listfile.
 */

const what = 'listfile';
const maxNameSize = 1024;
/** Longest line: a name, an id of ten digits, the semicolon, the line end. */
const maxLineSize = maxNameSize + 13;
/** Bytes are gone through in pieces of this size: rows are parts of one and keep it alive. */
const pieceSize = 0x10000;
const [lf, cr, nul, semicolon, digit0, digit9, sharp] = [0x0a, 0x0d, 0, 0x3b, 0x30, 0x39, 0x23];
const mostDigits = 10;
const wordSize = 4;

/** With ids: told by its first line. A list of names alone looks like any text, and is not told. */
export const listfileFormat: Format = { name: what, matches: (head) => /^\d{1,10};\S/.test(firstLine(head)) };

/** A line that is no row. */
export interface BadLine {
  /** Counted from 1. */
  line: number;
  /** With the number of the line in it. */
  message: string;
}

/** A comment: a name may start with the sign, but hardly with the sign and a blank. */
const comment = /^#(?:\s|$)/;

const lineDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const nameEncoder = new TextEncoder();

function lineError(line: number, problem: string, code: 'E_FORMAT' | 'E_FORMAT_RANGE' = 'E_FORMAT') {
  return formatError(code, what, `line ${line}: ${problem}`);
}

/** Checks a name's length in bytes; a character of a string is one to three of them. */
function checkName(name: string, line: number): void {
  if (name.length * 3 <= maxNameSize) return;
  const size = nameEncoder.encode(name).length;
  if (size > maxNameSize) {
    throw lineError(line, `name of ${size} bytes, more than ${maxNameSize}`, 'E_FORMAT_RANGE');
  }
}

function readLine(text: string, line: number): ListfileRow | undefined {
  let at = 0;
  let id = 0;
  for (; at < text.length; at++) {
    const digit = text.charCodeAt(at);
    if (digit < digit0 || digit > digit9) break;
    id = id * 10 + digit - digit0;
  }
  const row: ListfileRow = { fileDataId: undefined, name: text };
  if (text.charCodeAt(at) === semicolon) {
    if (id > 0xffffffff) throw lineError(line, 'file data id beyond 32 bits', 'E_FORMAT_RANGE');
    if (at > 0) row.fileDataId = id;
    row.name = text.slice(at + 1);
    if (row.name === '') throw lineError(line, 'no name');
  } else if (text.includes(';')) {
    throw lineError(line, `no file data id before the ';': ${JSON.stringify(text.slice(0, 40))}`);
  } else if (text.trim() === '' || comment.test(text)) {
    return undefined;
  }
  checkName(row.name, line);
  return row;
}

/**
 * Reads a list that comes in chunks, cut anywhere. It holds no more than a line.
 * {@link push} gives the rows of the lines that the chunk completes, {@link end} the row of a last line without a line end;
 * {@link pushBytes} and {@link endBytes} give them as bytes. All throw E_FORMAT for a line that is no row, E_FORMAT_RANGE for a name over 1,024 bytes or an id beyond 32 bits;
 * the message has the line's number.
 */
export class ListfileScanner {
  readonly #onBad: ((bad: BadLine) => void) | undefined;
  /** Whether the list has ids, told by its first piece. */
  #hasIds: boolean | undefined;
  /** What is gone through, filled anew for each piece: it begins with the start of a line that was not complete. */
  readonly #memory = new Uint8Array(2 * pieceSize + wordSize);
  readonly #view = new DataView(this.#memory.buffer);
  /** Bytes of that line. */
  #rest = 0;
  readonly #rows = new ListfileRows();
  /** Lines read so far. */
  #lines = 0;

  /**
   * @param onBad told of each line that is no row, which is then passed over: one bad line does not cost a list of millions. Where a list has
   *   ids a line without one is no row, either. What is not text at all is thrown all the same.
   */
  constructor(onBad?: (bad: BadLine) => void) {
    this.#onBad = onBad;
  }

  push(chunk: Uint8Array): ListfileRow[] {
    return texts(this.pushBytes(chunk));
  }

  /** The rows of a chunk, piece by piece: each holds until the next is asked for. All must be asked for. */
  *pushBytes(chunk: Uint8Array): Generator<ListfileRows> {
    for (let start = 0; start < chunk.length; start += pieceSize) {
      const piece = chunk.subarray(start, start + pieceSize);
      const end = piece.lastIndexOf(lf) + 1;
      // A line that never ends must not fill the memory.
      if (end === 0 && this.#rest + piece.length > maxLineSize)
        throw lineError(this.#lines + 1, 'too long', 'E_FORMAT_RANGE');
      this.#keep(piece.subarray(0, end));
      if (end > 0) {
        yield this.#readLines(this.#checkText(this.#memory.subarray(0, this.#rest)));
        this.#rest = 0;
      }
      this.#keep(piece.subarray(end));
    }
  }

  /** Keeps a copy: the chunk is the caller's, who may fill it anew. */
  #keep(bytes: Uint8Array): void {
    this.#memory.set(bytes, this.#rest);
    this.#rest += bytes.length;
  }

  /** @param bytes whole lines of text */
  #readLines(bytes: Uint8Array): ListfileRows {
    const rows = this.#rows;
    rows.clear(bytes);
    /** Rows of this piece without an id, by their place among `rows`, and the lines that they are on. */
    const unnumbered = new Map<number, number>();
    for (let start = 0; start < bytes.length; ) {
      const before = rows.count;
      this.#lines++;
      start = this.#readLine(rows, start);
      if (rows.count > before && rows.ids[before] === noListedId && this.#hasIds !== false) {
        unnumbered.set(before, this.#lines);
      }
    }
    if (rows.count > 0) this.#hasIds ??= unnumbered.size < rows.count;
    if (this.#onBad !== undefined && this.#hasIds === true) this.#dropUnnumbered(rows, unnumbered, this.#onBad);
    return rows;
  }

  /** Adds the row of a line, if it is one. Almost all are told by their bytes, any other as text. @returns where the next line starts */
  #readLine(rows: ListfileRows, start: number): number {
    const { bytes } = rows;
    let at = start;
    let id = 0;
    for (; bytes[at]! >= digit0 && bytes[at]! <= digit9; at++) id = id * 10 + bytes[at]! - digit0;
    const hasId = bytes[at] === semicolon && at > start && at - start <= mostDigits && id <= 0xffffffff;
    const end = this.#lineEnd(bytes, at);
    const stop = end > start && bytes[end - 1] === cr ? end - 1 : end;
    let isPlain = !hasId && bytes[start]! > 0x20 && bytes[start]! < 0x7f && bytes[start] !== sharp;
    for (let i = at; isPlain && i < end; i++) if (bytes[i] === semicolon) isPlain = false;
    if (hasId && stop > at + 1 && stop - at - 1 <= maxNameSize) rows.add(id, at + 1, stop);
    else if (isPlain && stop > start && stop - start <= maxNameSize) rows.add(noListedId, start, stop);
    else if (stop > start) this.#readText(rows, start, stop);
    return end + 1;
  }

  /** The line end from an offset on, which is there: a word at a time, as long as none of its bytes is one. */
  #lineEnd(bytes: Uint8Array, from: number): number {
    const start = bytes.byteOffset;
    let at = from;
    for (; ; at += wordSize) {
      const different = this.#view.getInt32(start + at, true) ^ 0x0a0a0a0a;
      if (((different - 0x01010101) & ~different & 0x80808080) !== 0) break;
    }
    while (bytes[at] !== lf) at += 1;
    return at;
  }

  #readText(rows: ListfileRows, start: number, stop: number): void {
    const row = this.#rowOf(lineDecoder.decode(rows.bytes.subarray(start, stop)));
    if (row !== undefined) rows.add(row.fileDataId ?? noListedId, stop - Buffer.byteLength(row.name), stop);
  }

  #rowOf(text: string): ListfileRow | undefined {
    if (this.#onBad === undefined) return readLine(text, this.#lines);
    try {
      return readLine(text, this.#lines);
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#onBad({ line: this.#lines, message: error.message });
      return undefined;
    }
  }

  /** Takes rows without an id out of a list of ids. */
  #dropUnnumbered(rows: ListfileRows, unnumbered: ReadonlyMap<number, number>, onBad: (bad: BadLine) => void): void {
    if (unnumbered.size === 0) return;
    for (const [place, line] of unnumbered) {
      const shown = JSON.stringify(rows.at(place).name.slice(0, 40));
      onBad({ line, message: lineError(line, `no file data id: ${shown}`).message });
    }
    rows.drop((row) => unnumbered.has(row));
  }

  /** The bytes without a byte order mark. @throws E_FORMAT for what is no text */
  #checkText(bytes: Uint8Array): Uint8Array {
    const mark = this.#lines === 0 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
    const body = mark === 0 ? bytes : bytes.subarray(mark);
    const noText = asBuffer(body).indexOf(nul);
    if (noText >= 0) throw lineError(this.#lineAt(body, noText), 'not text');
    if (!isUtf8(body)) throw lineError(this.#firstBadLine(body), 'not UTF-8');
    return body;
  }

  #lineAt(bytes: Uint8Array, offset: number): number {
    let line = this.#lines + 1;
    for (let i = 0; i < offset; i++) if (bytes[i] === lf) line++;
    return line;
  }

  #firstBadLine(bytes: Uint8Array): number {
    for (let start = 0; ; ) {
      const end = bytes.indexOf(lf, start) + 1;
      try {
        lineDecoder.decode(bytes.subarray(start, end));
      } catch {
        return this.#lineAt(bytes, start);
      }
      start = end;
    }
  }

  end(): ListfileRow[] {
    return texts(this.endBytes());
  }

  /** As {@link pushBytes}, of a last line without a line end. */
  *endBytes(): Generator<ListfileRows> {
    if (this.#rest > 0) yield* this.pushBytes(Uint8Array.of(lf));
  }
}

function texts(pieces: Iterable<ListfileRows>): ListfileRow[] {
  const all: ListfileRow[] = [];
  for (const rows of pieces) for (let row = 0; row < rows.count; row++) all.push(rows.at(row));
  return all;
}

/** Reads a list that is in memory, row by row. Throws as {@link ListfileScanner}, at the line that is wrong. */
export function* decodeListfile(bytes: Uint8Array): Generator<ListfileRow> {
  const scanner = new ListfileScanner();
  for (let start = 0; start < bytes.length; start += pieceSize) {
    yield* scanner.push(bytes.subarray(start, start + pieceSize));
  }
  yield* scanner.end();
}

/**
 * The rows of a list that is being read, such as from a file or a response; memory is that of a chunk.
 * @throws as {@link ListfileScanner}; rows before the line that is wrong were already given out
 */
export async function* readListfile(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ListfileRow> {
  const scanner = new ListfileScanner();
  for await (const chunk of chunks) yield* scanner.push(chunk);
  yield* scanner.end();
}

/**
 * Writes a list, a row a line with LF; a row without an id as a plain name. Blank lines, CR LF, and an empty id before a name are not
 * kept: rows say nothing of them.
 * @throws E_FORMAT_RANGE for ids beyond 32 bits and for names that no line can hold: empty ones, such with a line end
 *   or a NUL, or over 1,024 bytes
 */
export function encodeListfile(rows: Iterable<ListfileRow>): Uint8Array {
  const writer = new ByteWriter(64 * 1024);
  let line = 0;
  for (const { fileDataId, name } of rows) {
    line++;
    if (name === '' || /[\n\r\0]/.test(name)) throw lineError(line, 'no name for a line', 'E_FORMAT_RANGE');
    checkName(name, line);
    if (fileDataId === undefined) {
      // Only with an empty id are these read as they are.
      const odd = name.includes(';') || name.startsWith('\ufeff') || name.trim() === '' || comment.test(name);
      writer.text(odd ? `;${name}\n` : `${name}\n`);
      continue;
    }
    if (!(Number.isInteger(fileDataId) && fileDataId >= 0 && fileDataId <= 0xffffffff)) {
      throw lineError(line, `file data id ${fileDataId}`, 'E_FORMAT_RANGE');
    }
    writer.text(`${fileDataId};${name}\n`);
  }
  return writer.bytes();
}
