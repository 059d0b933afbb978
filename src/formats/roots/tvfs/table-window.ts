import { formatError } from '../../../core/errors.ts';
import { ByteReader } from '../../../core/reader.ts';
import { tvfsWhat } from './limits.ts';

/** A window that was not gone on from is small; each that follows it is larger, up to the largest. */
const smallest = 1 << 13;
const largest = 1 << 18;
/** More memory than a window has, for those who read whole pages. */
const spare = 1 << 13;

/** Bytes of a manifest that are read where they are needed. What it throws comes through. */
export interface TvfsSource {
  readonly size: number;
  /**
   * Exactly `size` bytes from `offset`, both of which are inside.
   * @param memory may take them, where there is one: they are good until it is given again. Without it they must stay as they are.
   */
  read(offset: number, size: number, memory?: Uint8Array): Uint8Array;
}

/** A source that has all bytes in memory: what is read are views of them. */
export function tvfsBytes(bytes: Uint8Array): TvfsSource {
  return { size: bytes.length, read: (offset, size) => bytes.subarray(offset, offset + size) };
}

/** A table that is gone through from its start to its end, mostly. What of it is in memory is a window that moves along. */
export class TableWindow {
  /** Bytes of the table. */
  readonly size: number;
  readonly #source: TvfsSource;
  readonly #offset: number;
  /** Bytes of an entry, at most. */
  readonly #reach: number;
  #memory = new Uint8Array(0);
  #start = 0;
  #reader = new ByteReader(this.#memory, tvfsWhat);

  constructor(source: TvfsSource, table: { offset: number; size: number }, reach: number) {
    this.size = table.size;
    this.#source = source;
    this.#offset = table.offset;
    this.#reach = reach;
  }

  /**
   * A cursor at an offset of the table, with the bytes of an entry before it, or fewer at the end of the table; good until the next is asked for.
   * @throws E_FORMAT_RANGE for an offset outside, and as the source does
   */
  readerAt(offset: number): ByteReader {
    const end = this.#start + this.#reader.bytes.length;
    const isHere = offset >= this.#start && offset <= end && (end - offset >= this.#reach || end === this.size);
    if (!isHere) this.#move(offset);
    this.#reader.pos = offset - this.#start;
    return this.#reader;
  }

  /** The offset in the table of a cursor that was given out last. */
  offsetOf({ pos }: ByteReader): number {
    return this.#start + pos;
  }

  #move(offset: number): void {
    if (!(offset >= 0 && offset <= this.size))
      throw formatError('E_FORMAT_RANGE', tvfsWhat, `offset ${offset} is outside its ${this.size} bytes`);
    const { length } = this.#reader.bytes;
    const goesOn = length > 0 && offset >= this.#start && offset <= this.#start + length;
    const room = Math.max(this.#reach, goesOn ? Math.min(largest, 4 * length) : smallest);
    if (this.#memory.length < room + spare) this.#memory = new Uint8Array(room + spare);
    const size = Math.min(room, this.size - offset);
    // What an error leaves there is nothing that was read.
    this.#reader = new ByteReader(new Uint8Array(0), tvfsWhat);
    const bytes = this.#source.read(this.#offset + offset, size, this.#memory);
    this.#start = offset;
    this.#reader = new ByteReader(bytes, tvfsWhat, 0, offset);
  }
}
