import type { ByteSource } from '../core/byte-source.ts';
import { pieceSize } from './pieces.ts';

/** A source that can also fill memory that is given to it. */
export interface FillingSource extends ByteSource {
  /** Fills the whole of `target` from `offset` on. Throws as `read`. */
  readInto?: ((target: Uint8Array, offset: number) => Promise<void>) | undefined;
}

/** Memory that is filled again and again: what was read is gone with the next read. */
export class Scratch {
  #bytes: Uint8Array | undefined;

  /** Exactly `size` bytes, valid until the next read; memory of their own when they are many. Throws as the source does. */
  async read(source: FillingSource, offset: number, size: number): Promise<Uint8Array> {
    if (source.readInto === undefined || size > pieceSize) return source.read(offset, size);
    this.#bytes ??= new Uint8Array(pieceSize);
    const target = this.#bytes.subarray(0, size);
    await source.readInto(target, offset);
    return target;
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
