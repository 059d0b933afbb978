import { fromHex } from './bytes.ts';

const utf8Encoder = new TextEncoder();

/** Grows a byte array by appending, the mirror of ByteReader. Numbers are big-endian unless the method says `le`. */
export class ByteWriter {
  // Without a DataView: to make one takes ten times as long as to make a few bytes, and there are millions of writers of a row.
  #bytes: Uint8Array;
  #size = 0;

  /** @param capacity bytes to have room for at the start */
  constructor(capacity = 1024) {
    this.#bytes = new Uint8Array(Math.max(capacity, 16));
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#size;
  }

  #room(size: number): number {
    const at = this.#size;
    if (at + size > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#bytes.length * 2, at + size));
      grown.set(this.#bytes.subarray(0, at));
      this.#bytes = grown;
    }
    this.#size = at + size;
    return at;
  }

  u8(value: number): this {
    const at = this.#room(1);
    this.#bytes[at] = value;
    return this;
  }
  i8(value: number): this {
    return this.u8(value & 0xff);
  }
  u16(value: number): this {
    return this.u8(value >>> 8).u8(value);
  }
  u16le(value: number): this {
    return this.u8(value).u8(value >>> 8);
  }
  u24(value: number): this {
    return this.uint(value, 3);
  }
  u32(value: number): this {
    this.setU32(this.#room(4), value);
    return this;
  }
  /** Writes a number over four bytes that were written before. */
  setU32(at: number, value: number): void {
    const bytes = this.#bytes;
    bytes[at] = value >>> 24;
    bytes[at + 1] = value >>> 16;
    bytes[at + 2] = value >>> 8;
    bytes[at + 3] = value;
  }
  u32le(value: number): this {
    const at = this.#room(4);
    const bytes = this.#bytes;
    bytes[at] = value;
    bytes[at + 1] = value >>> 8;
    bytes[at + 2] = value >>> 16;
    bytes[at + 3] = value >>> 24;
    return this;
  }
  i32le(value: number): this {
    return this.u32le(value);
  }
  u40(value: number): this {
    return this.uint(value, 5);
  }
  u64(value: number | bigint): this {
    return this.u32(highHalf(value)).u32(lowHalf(value));
  }
  u64le(value: number | bigint): this {
    return this.u32le(lowHalf(value)).u32le(highHalf(value));
  }
  /** An unsigned big-endian number of 1 to 6 bytes. */
  uint(value: number, size: number): this {
    const at = this.#room(size);
    let rest = value;
    for (let i = size - 1; i >= 0; i--) {
      this.#bytes[at + i] = rest % 0x100;
      rest = Math.floor(rest / 0x100);
    }
    return this;
  }

  raw(bytes: Uint8Array): this {
    const at = this.#room(bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }
  /** A key given as hex. */
  key(hex: string): this {
    return this.raw(fromHex(hex));
  }
  text(text: string): this {
    return this.raw(utf8Encoder.encode(text));
  }
  cstring(text: string): this {
    return this.text(text).u8(0);
  }
  zeros(count: number): this {
    this.#room(count);
    return this;
  }
  /** Zeros up to this size, if it is not reached yet. */
  padTo(size: number): this {
    return this.zeros(Math.max(0, size - this.#size));
  }

  /** Forgets what was written; its memory is used again. */
  clear(): void {
    // What room is made for is zeros.
    this.#bytes.fill(0, 0, this.#size);
    this.#size = 0;
  }

  /** All that was written, as a view, which holds until more is. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }

  /** All that was written, as a copy of its own. */
  bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#size);
  }
}

/** The lower 32 bits of a number of 64. */
function lowHalf(value: number | bigint): number {
  return typeof value === 'bigint' ? Number(value & 0xffffffffn) : value >>> 0;
}

function highHalf(value: number | bigint): number {
  return typeof value === 'bigint' ? Number((value >> 32n) & 0xffffffffn) : Math.floor(value / 0x1_0000_0000);
}
