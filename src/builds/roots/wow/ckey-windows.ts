import type { WowRootBlock } from '../../../formats/roots/wow/layout.ts';
import { type CkeyPlace, ckeySize } from './name-order.ts';

/** Ckeys that are read together: 16 KiB of most roots. */
const rowsAtOnce = 1024;

/**
 * The ckeys of the rows of a root, for who goes through all of them by their ids: each block has its own in that order, so of each a few lie in memory at a
 * time, and not all of a file of tens of megabytes. They are read when one is first asked for: who lists names alone needs none.
 */
export class CkeyWindows {
  readonly #read: (offset: number, size: number) => Uint8Array;
  readonly #windows = new Map<WowRootBlock, CkeyWindow>();

  /** @param read gives bytes of the root */
  constructor(read: (offset: number, size: number) => Uint8Array) {
    this.#read = read;
  }

  /** The place of the ckey of a row, which its block has. */
  placeOf(row: number, block: WowRootBlock): CkeyPlace {
    const inBlock = row - block.firstRow;
    const first = inBlock - (inBlock % rowsAtOnce);
    let window = this.#windows.get(block);
    if (window?.first !== first) {
      window = new CkeyWindow(this.#read, block, first);
      this.#windows.set(block, window);
    }
    return { of: window, at: (inBlock - first) * block.ckeyStride };
  }
}

/** Ckeys of a block from that of its row `first` on. */
class CkeyWindow {
  readonly first: number;
  readonly #read: (offset: number, size: number) => Uint8Array;
  readonly #block: WowRootBlock;
  #bytes: Uint8Array | undefined;

  constructor(read: (offset: number, size: number) => Uint8Array, block: WowRootBlock, first: number) {
    this.first = first;
    this.#read = read;
    this.#block = block;
  }

  get bytes(): Uint8Array {
    const { count, ckeyOffset, ckeyStride } = this.#block;
    const rows = Math.min(rowsAtOnce, count - this.first);
    this.#bytes ??= this.#read(ckeyOffset + this.first * ckeyStride, (rows - 1) * ckeyStride + ckeySize);
    return this.#bytes;
  }
}
