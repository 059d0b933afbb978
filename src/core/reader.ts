import { toHex, uintAt, viewOf } from './bytes.ts';
import { formatError } from './errors.ts';
import { RecordTable } from './tables/record-table.ts';

// A mark in the middle of a file is a character of its string. Bytes that are no UTF-8 become U+FFFD.
const utf8Decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const latin1Decoder = new TextDecoder('latin1');

/**
 * A cursor over bytes that came from outside. Every read is checked against what is left, and a failed
 * check is an E_FORMAT_TRUNCATED that names the format, the offset, what was asked and what is there.
 * Numbers are big-endian unless the method says `le`, as in most TACT formats.
 */
export class ByteReader {
  readonly bytes: Uint8Array;
  readonly what: string;
  pos: number;
  readonly #view: DataView;
  readonly #origin: number;

  /**
   * @param what name of the format, for messages
   * @param origin where the bytes begin in what they are a window of, for messages
   */
  constructor(bytes: Uint8Array, what: string, pos = 0, origin = 0) {
    this.bytes = bytes;
    this.what = what;
    this.pos = pos;
    this.#origin = origin;
    this.#view = viewOf(bytes);
  }

  /** The cursor, in what the bytes are a window of: for messages. */
  get offset(): number {
    return this.#origin + this.pos;
  }

  /** Bytes from the cursor to the end. */
  get remaining(): number {
    return this.bytes.length - this.pos;
  }

  #need(size: number): number {
    const at = this.pos;
    if (!(size >= 0 && size <= this.bytes.length - at)) {
      const facts = { offset: this.#origin + at };
      throw formatError('E_FORMAT_TRUNCATED', this.what, `${size} bytes asked, ${this.remaining} left`, facts);
    }
    this.pos = at + size;
    return at;
  }

  u8(): number {
    return this.bytes[this.#need(1)]!;
  }
  i8(): number {
    return this.#view.getInt8(this.#need(1));
  }
  u16(): number {
    return this.#view.getUint16(this.#need(2));
  }
  u16le(): number {
    return this.#view.getUint16(this.#need(2), true);
  }
  u24(): number {
    const at = this.#need(3);
    return this.#view.getUint16(at) * 0x100 + this.bytes[at + 2]!;
  }
  u32(): number {
    return this.#view.getUint32(this.#need(4));
  }
  u32le(): number {
    return this.#view.getUint32(this.#need(4), true);
  }
  i32le(): number {
    return this.#view.getInt32(this.#need(4), true);
  }
  u40(): number {
    const at = this.#need(5);
    return this.bytes[at]! * 0x1_0000_0000 + this.#view.getUint32(at + 1);
  }
  /** A 64-bit number that must fit the safe integers; else E_FORMAT_RANGE. */
  u64(): number {
    return this.#safe(this.u64big());
  }
  /** As {@link u64}, little-endian. */
  u64le(): number {
    return this.#safe(this.u64leBig());
  }
  u64big(): bigint {
    return this.#view.getBigUint64(this.#need(8));
  }
  u64leBig(): bigint {
    return this.#view.getBigUint64(this.#need(8), true);
  }

  #safe(value: bigint): number {
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw formatError('E_FORMAT_RANGE', this.what, `number ${value} is too large`, {
        offset: this.#origin + this.pos - 8,
      });
    }
    return Number(value);
  }

  /** An unsigned big-endian number of 1 to 6 bytes. */
  uint(size: number): number {
    return uintAt(this.bytes, this.#need(size), size);
  }

  /** A view of the next `size` bytes; no copy. */
  take(size: number): Uint8Array {
    const at = this.#need(size);
    return this.bytes.subarray(at, at + size);
  }
  skip(size: number): void {
    this.#need(size);
  }
  /** Moves to an absolute offset inside the bytes. */
  seek(offset: number): void {
    if (!(offset >= 0 && offset <= this.bytes.length)) {
      throw formatError('E_FORMAT_RANGE', this.what, `offset ${offset} is outside its ${this.bytes.length} bytes`);
    }
    this.pos = offset;
  }
  /** A reader limited to the next `size` bytes, past which this one moves on. */
  sub(size: number, what = this.what): ByteReader {
    return new ByteReader(this.take(size), what);
  }

  latin1(size: number): string {
    return latin1Decoder.decode(this.take(size));
  }
  utf8(size: number): string {
    return utf8Decoder.decode(this.take(size));
  }
  /** UTF-8 up to a NUL that must come within `max` bytes; the cursor stands behind the NUL. */
  cstring(max = this.remaining): string {
    const limit = Math.min(this.bytes.length, this.pos + max);
    const end = this.bytes.indexOf(0, this.pos);
    if (end < 0 || end >= limit) {
      throw formatError('E_FORMAT_TRUNCATED', this.what, 'string without its terminating NUL', {
        offset: this.offset,
      });
    }
    const text = utf8Decoder.decode(this.bytes.subarray(this.pos, end));
    this.pos = end + 1;
    return text;
  }
  /** A 16-byte key as lower-case hex. */
  key(size = 16): string {
    return toHex(this.take(size));
  }

  /** Demands these ASCII characters. Throws E_FORMAT_MAGIC. */
  magic(text: string): void {
    const at = this.pos;
    const found = this.remaining < text.length ? '' : this.latin1(text.length);
    if (found !== text) {
      const seen = found === '' ? `${this.remaining} bytes` : JSON.stringify(found);
      const facts = { offset: this.#origin + at, expected: JSON.stringify(text), found: seen };
      throw formatError('E_FORMAT_MAGIC', this.what, 'wrong magic', facts);
    }
  }
  /** Demands this little-endian number of 32 bits. Throws E_FORMAT_MAGIC. */
  magicU32le(expected: number): void {
    const { offset } = this;
    const found = this.u32le();
    if (found === expected) return;
    const hex = (value: number): string => `0x${value.toString(16)}`;
    const facts = { offset, expected: hex(expected), found: hex(found) };
    throw formatError('E_FORMAT_MAGIC', this.what, 'wrong magic', facts);
  }
  /** Demands one of these numbers. Throws E_FORMAT_VERSION. */
  version<const Known extends number>(read: 'u8' | 'u16le' | 'u32le', ...known: readonly Known[]): Known {
    const { offset } = this;
    const found = this[read]();
    const version = known.find((each) => each === found);
    if (version !== undefined) return version;
    const facts = { offset, expected: known.join(' or '), found };
    throw formatError('E_FORMAT_VERSION', this.what, 'unknown version', facts);
  }
  /** Checks that `n` records of `each` bytes can be there, before anything is allocated for them; gives back `n`. */
  count(n: number, each: number): number {
    if (n * each > this.remaining) {
      const problem = `${n} records of ${each} bytes do not fit into ${this.remaining}`;
      throw formatError('E_FORMAT_TRUNCATED', this.what, problem, { offset: this.offset });
    }
    return n;
  }
  /** The next records, as a table over their bytes. Throws E_FORMAT_TRUNCATED when they are not there. */
  table(count: number, stride: number): RecordTable {
    return new RecordTable(this.take(this.count(count, stride) * stride), stride, count);
  }
  /** Demands that nothing is left over. */
  end(): void {
    if (this.remaining !== 0) {
      throw formatError('E_FORMAT', this.what, `${this.remaining} bytes left over`, {
        offset: this.offset,
      });
    }
  }
}

/**
 * An iterable whose items are made anew each time it is gone through, so that a large table need not become objects to be listed.
 * @param start gives a fresh iterator: a generator function
 */
export function repeatable<Item>(start: () => Iterator<Item>): Iterable<Item> {
  return { [Symbol.iterator]: start };
}
