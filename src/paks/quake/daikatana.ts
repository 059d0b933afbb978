/*
 * The compression of Daikatana. A row of codes, each a byte x and what it needs:
 *
 *     0 …  63   x + 1 bytes follow and are copied
 *    64 … 127   x - 62 zeros
 *   128 … 191   x - 126 times the next byte
 *   192 … 253   x - 190 bytes from the output, the next byte + 2 back
 *   255         end
 *
 * 254 has no meaning. (Yamagi's pakextract describes the codes; no real file was at hand.)
 */
import { formatError, type PakratError } from '../../core/errors.ts';

const what = 'Daikatana entry';
/** No code takes more input or gives more output than this. */
const maxCodeSize = 65;
/** The farthest that a code reaches back. */
const maxDistance = 257;
/** A byte of input gives at most a run of this size. */
const maxRatio = 65;
const outputSize = 0x10000;

/**
 * Decodes an entry whose bytes come in pieces, into pieces of at most 64 KiB.
 * @param size bytes that must come out
 * @throws E_FORMAT_RANGE when more would come out or a code reaches back too far, E_FORMAT_TRUNCATED when input or
 *   output ends early, E_FORMAT for the code without meaning
 */
export async function* decodeDaikatana(pieces: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  const decoder = new DaikatanaDecoder(size);
  for await (const piece of pieces) {
    decoder.push(piece);
    for (let made = decoder.decode(maxCodeSize); made !== undefined; made = decoder.decode(maxCodeSize)) yield made;
  }
  for (let made = decoder.decode(1); made !== undefined; made = decoder.decode(1)) yield made;
  decoder.checkEnd();
  yield decoder.flush();
}

/** True when `storedSize` bytes can decode to `size` bytes at all. */
export function isDaikatanaRatio(storedSize: number, size: number): boolean {
  return size <= storedSize * maxRatio;
}

/** Codes in, bytes out. The output buffer keeps the last bytes that were given out, for codes that reach back. */
class DaikatanaDecoder {
  readonly #size: number;
  readonly #output = new Uint8Array(maxDistance + outputSize);
  #input: Uint8Array = new Uint8Array(0);
  #at = 0;
  #start = 0;
  #end = 0;
  #made = 0;
  #ended = false;

  constructor(size: number) {
    this.#size = size;
  }

  /** Takes the next stored bytes. */
  push(piece: Uint8Array): void {
    const rest = this.#input.subarray(this.#at);
    const input = new Uint8Array(rest.length + piece.length);
    input.set(rest);
    input.set(piece, rest.length);
    this.#input = input;
    this.#at = 0;
  }

  /**
   * Decodes while at least `inputNeeded` bytes are left: enough for any code, or 1 when no more input comes.
   * Gives a piece when the buffer is full, undefined when input is short or the end was reached.
   */
  decode(inputNeeded: number): Uint8Array | undefined {
    while (!this.#ended) {
      if (this.#end + maxCodeSize > this.#output.length) return this.flush();
      if (this.#input.length - this.#at < inputNeeded) return undefined;
      this.#step();
    }
    return undefined;
  }

  checkEnd(): void {
    if (!this.#ended || this.#made !== this.#size) {
      throw formatError('E_FORMAT_TRUNCATED', what, 'ends early', { expected: this.#size, found: this.#made });
    }
  }

  /** The bytes that were made since the last time; a copy. */
  flush(): Uint8Array {
    const piece = this.#output.slice(this.#start, this.#end);
    const kept = Math.min(this.#end, maxDistance);
    this.#output.copyWithin(0, this.#end - kept, this.#end);
    this.#start = kept;
    this.#end = kept;
    return piece;
  }

  #step(): void {
    const code = this.#next();
    if (code === 255) this.#ended = true;
    else if (code < 64) this.#literals(code + 1);
    else if (code < 128) this.#run(code - 62, 0);
    else if (code < 192) this.#run(code - 126, this.#next());
    else if (code < 254) this.#repeat(code - 190, this.#next() + 2);
    else throw formatError('E_FORMAT', what, 'code 254 has no meaning');
  }

  #next(): number {
    const byte = this.#input[this.#at++];
    if (byte === undefined) throw truncated();
    return byte;
  }

  #literals(count: number): void {
    if (count > this.#input.length - this.#at) throw truncated();
    this.#room(count);
    this.#output.set(this.#input.subarray(this.#at, this.#at + count), this.#end);
    this.#at += count;
    this.#end += count;
  }

  #run(count: number, byte: number): void {
    this.#room(count);
    this.#output.fill(byte, this.#end, this.#end + count);
    this.#end += count;
  }

  #repeat(count: number, distance: number): void {
    if (distance > this.#made) {
      throw formatError('E_FORMAT_RANGE', what, `a code reaches back ${distance} of ${this.#made} bytes`);
    }
    this.#room(count);
    for (let i = 0; i < count; i++, this.#end++) this.#output[this.#end] = this.#output[this.#end - distance]!;
  }

  #room(count: number): void {
    this.#made += count;
    if (this.#made > this.#size) {
      throw formatError('E_FORMAT_RANGE', what, `more comes out than the ${this.#size} bytes promised`);
    }
  }
}

function truncated(): PakratError {
  return formatError('E_FORMAT_TRUNCATED', what, 'ends inside a code');
}
