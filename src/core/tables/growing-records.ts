import { giveBack } from './large-bytes.ts';

/** Bytes of a block at least. */
const blockBytes = 1 << 20;

/** Records of one size of which nobody knows how many there will be. They lie in blocks: to grow copies none. */
export class GrowingRecords {
  readonly stride: number;
  #blocks: Buffer[] = [];
  /** A power of two. */
  readonly #rowsInBlock: number;
  #count = 0;

  constructor(stride: number) {
    this.stride = stride;
    this.#rowsInBlock = 2 ** Math.ceil(Math.log2(blockBytes / stride));
  }

  get count(): number {
    return this.#count;
  }

  /** Adds a record of zeros. @returns its number: that of the first is 0 */
  add(): number {
    if (this.#count === this.#blocks.length * this.#rowsInBlock)
      this.#blocks.push(Buffer.alloc(this.#rowsInBlock * this.stride));
    this.#count += 1;
    return this.#count - 1;
  }

  /** Forgets all of them, and gives their memory back to the system. */
  giveBack(): void {
    giveBack(...this.#blocks);
    this.#blocks = [];
    this.#count = 0;
  }

  /** The block that has a record, to be read and written at {@link offsetOf}: to make a view of a few bytes takes longer. */
  blockOf(number: number): Buffer {
    return this.#blocks[Math.floor(number / this.#rowsInBlock)]!;
  }

  /** Where in its block a record lies. */
  offsetOf(number: number): number {
    return (number % this.#rowsInBlock) * this.stride;
  }

  /** A view of a record. */
  at(number: number): Buffer {
    const offset = this.offsetOf(number);
    return this.blockOf(number).subarray(offset, offset + this.stride);
  }
}
