import { aesBlockSize, alignToBlock } from '../../../../codecs/ciphers/aes.ts';
import { codeOf, formatError, PakratError } from '../../../../core/errors.ts';
import { ByteReader } from '../../../../core/reader.ts';
import type { FillingSource } from '../../../../files/scratch.ts';
import { decryptUnit } from '../../keys.ts';
import type { IndexStretch } from './shared-rows.ts';

/** Larger indices are not read whole: they are taken for damage where they have to be. */
export const maxWholeBytes = 256 << 20;
/** So much of an index is looked at at once, where it is not in memory. */
export const scanBytes = 256 << 10;
/** What is larger than what is looked at at once is looked at again with so many times as much. */
const scanGrowth = 8;
/** Rows that follow one another are read so many bytes at a time. */
const aheadBytes = 64 << 10;

/** Some bytes of an index, and the offset of the first in it. */
export interface IndexWindow {
  readonly bytes: Uint8Array;
  readonly start: number;
}

/** The bytes of an index, in memory or in a file. */
export interface IndexWindows {
  /** Bytes of the whole index. */
  readonly size: number;
  readonly isInMemory: boolean;
  /**
   * So many bytes from a place on, those that there are, or more: they stay what they are.
   * @param memory where they may lie until somebody else needs it, in place of memory of their own
   * @throws as the source does
   */
  read(place: number, size: number, memory?: Uint8Array): IndexWindow;
}

/** The bytes of an index. @param source which fills, where they lie in it */
export function windowsOf(index: Uint8Array | IndexStretch, source: FillingSource): IndexWindows {
  if (index instanceof Uint8Array) {
    const all = { bytes: index, start: 0 };
    return { size: index.length, isInMemory: true, read: () => all };
  }
  const { offset, size, cipher } = index;
  const fill = (start: number, end: number, memory?: Uint8Array): Uint8Array => {
    const length = end - start;
    const bytes = memory !== undefined && length <= memory.length ? memory.subarray(0, length) : new Uint8Array(length);
    source.readInto?.(bytes, offset + start);
    return bytes;
  };
  return {
    size,
    isInMemory: false,
    read(place, wanted, memory) {
      const end = Math.min(place + wanted, size);
      if (cipher === undefined) return { bytes: fill(place, end, memory), start: place };
      const start = place - (place % aesBlockSize);
      const stored = fill(start, Math.min(alignToBlock(end), size), memory);
      return { bytes: decryptUnit(stored, cipher.key, { unit: cipher.unit, position: start }), start };
    },
  };
}

/** A reader of all of an index from a place on. @param what names it in errors @throws E_FORMAT_RANGE for more than is read whole, and as the source does */
export function readerFrom(windows: IndexWindows, place: number, what: string): ByteReader {
  const size = windows.size - place;
  demandSize(size, what, maxWholeBytes);
  const { bytes, start } = windows.read(place, size);
  return new ByteReader(bytes, what, place - start, start);
}

/** Throws E_FORMAT_RANGE for what has more bytes than it may have. */
export function demandSize(size: number, what: string, most: number): void {
  if (size > most) throw formatError('E_FORMAT_RANGE', what, `has ${size} bytes`);
}

/**
 * Goes through the items of an index that lie one behind the other, without the whole of it in memory.
 * @param at where the first starts
 * @param what names the index in errors
 * @param stepIn gives what goes on by one item in some of the bytes, and says whether one was left: where it throws E_FORMAT_TRUNCATED,
 *   it is called again for that item with more of them, as long as there are more
 * @returns where the last ends
 * @throws as the source does, and what a step throws
 */
export function scanIndex(
  windows: IndexWindows,
  { at, what }: { at: number; what: string },
  stepIn: (reader: ByteReader) => () => boolean,
): number {
  const memory = new Uint8Array(windows.isInMemory ? 0 : Math.min(scanBytes, windows.size));
  let next = at;
  for (let size = scanBytes; ; ) {
    const first = next;
    const { bytes, start } = windows.read(next, size, memory);
    const reader = new ByteReader(bytes, what, next - start, start);
    const step = stepIn(reader);
    try {
      while (step()) next = reader.offset;
      return next;
    } catch (error) {
      const isLast = start + bytes.length === windows.size;
      if (isLast || codeOf(error) !== 'E_FORMAT_TRUNCATED') throw error;
      if (next === first && size >= maxWholeBytes)
        throw formatError('E_FORMAT_RANGE', what, 'larger than any item', { offset: next });
      size = next === first ? Math.min(size * scanGrowth, maxWholeBytes) : scanBytes;
    }
  }
}

/** The rows of an index that lie one behind the other: one that is asked for is read with those that may be asked for next. */
export class RowWindows {
  readonly #windows: IndexWindows;
  /** Where each row starts, and the last ends. */
  readonly #places: Uint32Array;
  readonly #what: string;
  /** Over the rows that were read last. */
  #reader: ByteReader | undefined;
  /** Where its bytes start in the index; the numbers of its first row and of the one behind its last. */
  #start = 0;
  #first = 0;
  #end = 0;

  /** @param what names the index in errors */
  constructor(windows: IndexWindows, places: Uint32Array, what: string) {
    this.#windows = windows;
    this.#places = places;
    this.#what = what;
  }

  /** A reader that stands at a row, and has the bytes up to the next. Valid until the next call. Throws as the source does. */
  at(row: number): ByteReader {
    const isHeld = row >= this.#first && row < this.#end;
    const reader = isHeld && this.#reader !== undefined ? this.#reader : this.#read(row);
    reader.seek(this.#places[row]! - this.#start);
    return reader;
  }

  /** Where the next row starts, in the bytes of the reader that stands at a row. */
  endOf(row: number): number {
    return this.#places[row + 1]! - this.#start;
  }

  #read(row: number): ByteReader {
    const places = this.#places;
    const count = places.length - 1;
    let [first, end] = this.#windows.isInMemory ? [0, count] : [row, row + 1];
    const hasRoom = (): boolean => places[end]! - places[first]! < aheadBytes;
    if (row === this.#end) while (end < count && hasRoom()) end += 1;
    if (row === this.#first - 1) while (first > 0 && hasRoom()) first -= 1;
    const { bytes, start } = this.#windows.read(places[first]!, places[end]! - places[first]!);
    this.#reader = new ByteReader(bytes, this.#what, 0, start);
    [this.#start, this.#first, this.#end] = [start, first, end];
    return this.#reader;
  }
}

/**
 * The error for a row that is not where it was found. What was found right may be something else by now: nobody keeps others from
 * writing to the file. So each row is looked at again where it is read.
 */
export function changedIndex(what: string): PakratError {
  return new PakratError('E_INTEGRITY', `${what}: it is not what it was when it was opened`);
}
