import { concatBytes } from '../../core/bytes.ts';
import type { Source, SourceEntry } from '../source.ts';

/** Bytes of one file, asked for in any order. Needs `close`. */
export interface RangeReader {
  /** Up to `size` bytes from `offset`: fewer only where the file ends. Throws as the source's `read`. */
  read(offset: number, size: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Decoded bytes that are kept. A file up to this size is decoded whole before any of it is given out. */
const windowSize = 8 << 20;

/** A reader of a file: by ranges where the source can and ought to, else along the file, from the start again when somebody goes back. */
export function openRangeReader(source: Source, entry: SourceEntry): RangeReader {
  const { size } = entry;
  const readRange = source.readRange?.bind(source);
  if (readRange === undefined || source.readsWhole === true || size === undefined)
    return new StreamReader(source, entry);
  return {
    async read(offset, wanted) {
      const pieces: Uint8Array[] = [];
      const held = Math.max(0, Math.min(wanted, size - offset));
      if (held > 0) for await (const piece of readRange(entry, offset, held)) pieces.push(piece.slice());
      return concatBytes(pieces);
    },
    async close() {},
  };
}

/** Decodes a file from its start, and keeps the last of what it decoded. */
class StreamReader implements RangeReader {
  readonly #source: Source;
  readonly #entry: SourceEntry;
  #pieces: AsyncIterator<Uint8Array> | undefined;
  #window: Uint8Array[] = [];
  #start = 0;
  #end = 0;
  #isDone = false;
  /** Why it does not go on: a generator that has failed says only that it has ended. */
  #failure: { error: unknown } | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(source: Source, entry: SourceEntry) {
    this.#source = source;
    this.#entry = entry;
  }

  read(offset: number, size: number): Promise<Uint8Array> {
    // One at a time: they go along one stream.
    const next = this.#last.then(() => this.#read(offset, size));
    this.#last = next.catch(() => {});
    return next;
  }

  async #read(offset: number, size: number): Promise<Uint8Array> {
    if (offset < this.#start) await this.close();
    while (!this.#isDone && (this.#end < offset + size || this.#end < windowSize)) await this.#pull(offset);
    const pieces: Uint8Array[] = [];
    let at = this.#start;
    for (const piece of this.#window) {
      const from = Math.max(offset - at, 0);
      const to = Math.min(offset + size - at, piece.length);
      if (from < to) pieces.push(piece.subarray(from, to));
      at += piece.length;
    }
    return concatBytes(pieces);
  }

  /** Decodes one piece more. What lies far in front of `offset` is let go. */
  async #pull(offset: number): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error;
    this.#pieces ??= this.#source.read(this.#entry)[Symbol.asyncIterator]();
    const { value, done } = await this.#pieces.next().catch((error: unknown) => {
      this.#failure = { error };
      throw error;
    });
    if (done === true) {
      this.#isDone = true;
      return;
    }
    this.#window.push(value.slice());
    this.#end += value.length;
    for (const { length } of [...this.#window]) {
      if (this.#end - this.#start <= windowSize || this.#start + length > offset) break;
      this.#window.shift();
      this.#start += length;
    }
  }

  async close(): Promise<void> {
    await this.#pieces?.return?.();
    this.#pieces = undefined;
    this.#window = [];
    this.#start = 0;
    this.#end = 0;
    this.#isDone = false;
    this.#failure = undefined;
  }
}
