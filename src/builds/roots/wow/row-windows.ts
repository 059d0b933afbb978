import type { WowRootBlock } from '../../../formats/roots/wow/layout.ts';

/** Rows of a block that are read together: 16 KiB of the ckeys of most roots. */
const rowsAtOnce = 1024;

/** What each row of a block has in one place: where that of the first lies in the root, and how far apart they are, in bytes. */
export interface RowField {
  offset: number;
  stride: number;
}

/** The place of a field in bytes that are there, or are read when they are asked for. */
export interface FieldPlace {
  of: { readonly bytes: Uint8Array };
  at: number;
}

/**
 * One field of the rows of a root, for who goes through all of them by their ids: each block has its own in that order, so of each a few lie in memory at a
 * time, and not all of a file of tens of megabytes. They are read when one is first asked for: who lists names alone needs no ckeys.
 */
export class RowWindows {
  readonly #read: (offset: number, size: number) => Uint8Array;
  readonly #fieldOf: (block: WowRootBlock) => RowField;
  readonly #size: number;
  readonly #windows = new Map<WowRootBlock, Window>();

  /**
   * @param read gives bytes of the root
   * @param field where a block has it, and its size in bytes
   */
  constructor(
    read: (offset: number, size: number) => Uint8Array,
    { of, size }: { of: (block: WowRootBlock) => RowField; size: number },
  ) {
    this.#read = read;
    this.#fieldOf = of;
    this.#size = size;
  }

  /** The place of the field of a row, which its block has. */
  placeOf(row: number, block: WowRootBlock): FieldPlace {
    const inBlock = row - block.firstRow;
    const first = inBlock - (inBlock % rowsAtOnce);
    const known = this.#windows.get(block);
    const window = known?.first === first ? known : this.#open(block, first);
    return { of: window, at: (inBlock - first) * window.stride };
  }

  #open(block: WowRootBlock, first: number): Window {
    const { offset, stride } = this.#fieldOf(block);
    const rows = Math.min(rowsAtOnce, block.count - first);
    const read = (): Uint8Array => this.#read(offset + first * stride, (rows - 1) * stride + this.#size);
    const window = new Window(first, stride, read);
    this.#windows.set(block, window);
    return window;
  }
}

/** The field of some rows of a block, from its row `first` on. */
class Window {
  readonly first: number;
  readonly stride: number;
  readonly #read: () => Uint8Array;
  #bytes: Uint8Array | undefined;

  constructor(first: number, stride: number, read: () => Uint8Array) {
    this.first = first;
    this.stride = stride;
    this.#read = read;
  }

  get bytes(): Uint8Array {
    this.#bytes ??= this.#read();
    return this.#bytes;
  }
}
