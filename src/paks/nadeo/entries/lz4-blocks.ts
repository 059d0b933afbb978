/*
 * The compression of version 18: LZ4 blocks in a row, each preceded by its size.
 *
 *   size    u16   at most 4128
 *   block         gives 4096 bytes, the last one what is left
 *
 * Matches reach back over blocks, up to 64 KiB, and before the first block into a dictionary of 1,006 bytes that
 * belongs to the game. (As one reader of that version has it, and another confirms.)
 */
import { lz4BlockInto } from '../../../codecs/compression/lz4.ts';
import { formatError, PakratError } from '../../../core/errors.ts';
import type { TakeBytes } from './stepped-inflate.ts';

const what = 'Nadeo LZ4 stream';
const maxBlockSize = 4128;
const maxBlockOutput = 4096;
const historySize = 0x10000;

/** SHA-256 of the dictionary of the known games. */
export const knownDictionarySha256 = '49091f002a04ac1f1962cfa5106a0a1480223be734937d45675f11f8d71f18d2';

/** Decodes the blocks of one file. */
export class Lz4Blocks {
  readonly #window = new Uint8Array(2 * historySize + maxBlockOutput);
  readonly #hasDictionary: boolean;
  #end: number;
  #remaining: number;

  /** @param size of the whole output, @param dictionary the bytes before it; only its last 64 KiB count */
  constructor(size: number, dictionary: Uint8Array = new Uint8Array(0)) {
    const history = dictionary.subarray(Math.max(0, dictionary.length - historySize));
    this.#window.set(history);
    this.#end = history.length;
    this.#hasDictionary = history.length > 0;
    this.#remaining = size;
  }

  /** Bytes that are still to come. */
  get remaining(): number {
    return this.#remaining;
  }

  /**
   * The next block's output; empty at the end.
   * @throws E_FORMAT_RANGE, E_FORMAT_TRUNCATED; E_UNSUPPORTED when the dictionary is needed and was not given
   */
  async next(take: TakeBytes): Promise<Uint8Array> {
    if (this.#remaining === 0) return new Uint8Array(0);
    const head = await take(2);
    const size = head.length < 2 ? 0 : head[0]! | (head[1]! << 8);
    if (size < 1 || size > maxBlockSize) throw formatError('E_FORMAT_RANGE', what, `a block of ${size} bytes`);
    const block = await take(size);
    if (block.length < size)
      throw formatError('E_FORMAT_TRUNCATED', what, `a block of ${block.length} bytes instead of ${size}`);
    const { outputSize, reach } = measureBlock(block);
    if (outputSize === 0 || outputSize > Math.min(maxBlockOutput, this.#remaining)) {
      const problem = `a block that gives ${outputSize} bytes, of ${this.#remaining} missing ones`;
      throw formatError('E_FORMAT_RANGE', what, problem);
    }
    this.#makeRoom();
    if (reach > this.#end && !this.#hasDictionary) {
      throw new PakratError('E_UNSUPPORTED', `${what}: it needs the dictionary of the game, and none is given`, {
        hint: 'Give the 1,006 bytes of the LZ4 dictionary that is part of the game.',
      });
    }
    const start = this.#end;
    this.#end += outputSize;
    this.#remaining -= outputSize;
    lz4BlockInto(block, 0, { bytes: this.#window, start, end: this.#end });
    return this.#window.slice(start, this.#end);
  }

  #makeRoom(): void {
    if (this.#end + maxBlockOutput <= this.#window.length) return;
    this.#window.copyWithin(0, this.#end - historySize, this.#end);
    this.#end = historySize;
  }
}

/** Walks over a block: how much it gives, and how far before its output its matches start at most. */
function measureBlock(block: Uint8Array): { outputSize: number; reach: number } {
  let at = 0;
  let outputSize = 0;
  let reach = 0;
  const length = (start: number): number => {
    let sum = start;
    if (start === 15) {
      let more = 255;
      for (; more === 255 && at < block.length; sum += more) more = block[at++]!;
    }
    return sum;
  };
  while (at < block.length) {
    const token = block[at++]!;
    const literals = length(token >>> 4);
    at += literals;
    outputSize += literals;
    if (at >= block.length) break;
    const distance = block[at]! | ((block[at + 1] ?? 0) << 8);
    at += 2;
    reach = Math.max(reach, distance - outputSize);
    outputSize += length(token & 15) + 4;
  }
  return { outputSize, reach };
}
