import type { ByteSource } from '../core/byte-source.ts';
import { pieceSize } from './pieces.ts';

/** A source that can also fill memory that is given to it, at once. */
export interface FillingSource extends ByteSource {
  /** Fills the whole of `target` from `offset` on. Throws as `read`. */
  readInto?: ((target: Uint8Array, offset: number) => void) | undefined;
}

/** What is read ahead is at least so many times as much as what was asked for: else too much of it would be read twice. */
const aheadTimes = 8;

/**
 * Memory that is filled again and again: what was read is gone with the next read. Small pieces that lie one behind the other are read
 * together. What was read ahead is forgotten when the event loop turns: whoever waits between two reads finds the file as it is then.
 */
export class Scratch {
  #bytes: Uint8Array | undefined;
  #source: FillingSource | undefined;
  /** The part of the source that is in the memory. */
  #start = 0;
  #end = 0;
  /** The end of what was asked for last. */
  #next = -1;
  #forgetting: NodeJS.Immediate | undefined;

  /** Exactly `size` bytes, valid until the next read; memory of their own when they are many. At once where the source fills. Throws as it does. */
  read(source: FillingSource, offset: number, size: number): Uint8Array | Promise<Uint8Array> {
    return this.readNow(source, offset, size) ?? source.read(offset, size);
  }

  /** As {@link read}; undefined where it would have to be waited for. */
  readNow(source: FillingSource, offset: number, size: number): Uint8Array | undefined {
    if (source.readInto === undefined || size > pieceSize) return undefined;
    this.#bytes ??= new Uint8Array(pieceSize);
    const isHeld = source === this.#source && offset >= this.#start && offset + size <= this.#end;
    if (!isHeld && !this.#readAhead(source, this.#bytes, { offset, size })) {
      this.#forget();
      source.readInto(this.#bytes.subarray(0, size), offset);
      this.#start = offset;
      // What was asked for alone is not held: who asks again wants to know whether it is still the same.
      this.#end = offset;
    }
    this.#source = source;
    this.#next = offset + size;
    return this.#bytes.subarray(offset - this.#start, offset - this.#start + size);
  }

  #readAhead(source: FillingSource, bytes: Uint8Array, { offset, size }: { offset: number; size: number }): boolean {
    const gap = offset - this.#next;
    const isNext =
      source === this.#source && gap >= 0 && gap * aheadTimes <= pieceSize && size * aheadTimes <= pieceSize;
    const end = Math.min(offset + pieceSize, source.size);
    if (!isNext || end < offset + size) return false;
    this.#forget();
    try {
      source.readInto?.(bytes.subarray(0, end - offset), offset);
    } catch {
      // What cannot be read may lie behind what is asked for.
      return false;
    }
    this.#start = offset;
    this.#end = end;
    this.#forgetting ??= setImmediate(() => {
      this.#forgetting = undefined;
      this.#forget();
    });
    return true;
  }

  #forget(): void {
    this.#end = this.#start;
  }
}

/** Scratches for work that may go on side by side: each takes one, and gives it back when it is done. */
export class ScratchPool {
  readonly #free: Scratch[] = [];

  take(): Scratch {
    return this.#free.pop() ?? new Scratch();
  }

  give(scratch: Scratch): void {
    this.#free.push(scratch);
  }
}
