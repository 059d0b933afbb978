import { checkRange } from '../core/byte-source.ts';
import { closeTemporary, inStore, openTemporary, type TemporaryFile, writeAll } from './durable.ts';
import { ReadAhead, readAt, readInto } from './read-at.ts';

/** Bytes that wait in memory before they go to disk together; and how many there is room for at first. */
const tailBytes = 1 << 20;
const firstBytes = 1 << 14;
/** Bytes that are handed on at a time. */
const pieceBytes = 1 << 18;

/**
 * Bytes that grow, and are read meanwhile: for what is more than memory should hold. A few are held in memory, more lie in a temporary file. Needs `close`, which
 * removes it. What writes throws E_STORE_FULL and E_STORE.
 */
export class GrowingFile {
  readonly #temporary: string | undefined;
  readonly #prefix: '' | '.pakrat-';
  /** Where the bytes are that came first, once there is a file. */
  #file: TemporaryFile | undefined;
  #written = 0;
  /** The last bytes. */
  #tail = Buffer.allocUnsafe(0);
  #waiting = 0;

  /**
   * @param temporary a folder, which is made; without it all is held in memory
   * @param prefix as temporaryName has it
   */
  constructor(temporary: string | undefined, prefix: '' | '.pakrat-' = '') {
    this.#temporary = temporary;
    this.#prefix = prefix;
  }

  /** Bytes that were appended. */
  get size(): number {
    return this.#written + this.#waiting;
  }

  append(bytes: Uint8Array): void {
    if (this.#waiting + bytes.length > this.#tail.length) this.#makeRoom(bytes.length);
    if (bytes.length > this.#tail.length) {
      this.#write(bytes, this.#written);
      this.#written += bytes.length;
      return;
    }
    this.#tail.set(bytes, this.#waiting);
    this.#waiting += bytes.length;
  }

  /** Writes over bytes that were appended. */
  write(bytes: Uint8Array, offset: number): void {
    if (offset >= this.#written) {
      this.#tail.set(bytes, offset - this.#written);
      return;
    }
    this.#flush();
    this.#write(bytes, offset);
  }

  /** Exactly `size` bytes at `offset`, the caller's own. @throws E_FORMAT_TRUNCATED when they are not there */
  read(offset: number, size: number): Uint8Array {
    checkRange({ name: 'temporary file', size: this.size }, offset, size);
    const inTail = this.#inTail(offset, size);
    // A copy out of memory that many share: there may be millions of a few bytes.
    return inTail === undefined ? readAt(this.#flushed(), offset, size, 'temporary file') : Buffer.from(inTail);
  }

  /** As {@link read}, into memory that is there: as many bytes as it has. */
  readInto(target: Uint8Array, offset: number): void {
    checkRange({ name: 'temporary file', size: this.size }, offset, target.length);
    const inTail = this.#inTail(offset, target.length);
    if (inTail === undefined) readInto(this.#flushed(), target, { offset, what: 'temporary file' });
    else target.set(inTail);
  }

  /** For bytes that are read one behind the other: what `read` gives is good until the next, as long as nothing is written. */
  ahead(): { read: (offset: number, size: number) => Uint8Array } {
    if (this.#written === 0) return { read: (offset, size) => this.#inTail(offset, size) ?? this.read(offset, size) };
    const ahead = new ReadAhead(this.#flushed(), this.size);
    return { read: (offset, size) => ahead.read(offset, size, 'temporary file') };
  }

  /** All bytes in pieces, each of which is good until the next. @param stride pieces have whole records of so many bytes */
  *pieces(stride = 1): Generator<Uint8Array> {
    const { read } = this.ahead();
    const most = Math.max(stride, pieceBytes - (pieceBytes % stride));
    for (let at = 0; at < this.size; at += most) yield read(at, Math.min(most, this.size - at));
  }

  /** Forgets everything. */
  close(): void {
    if (this.#file !== undefined) closeTemporary(this.#file);
    this.#file = undefined;
  }

  #inTail(offset: number, size: number): Uint8Array | undefined {
    const start = offset - this.#written;
    if (start < 0 || start + size > this.#waiting) return undefined;
    return new Uint8Array(this.#tail.buffer, this.#tail.byteOffset + start, size);
  }

  #makeRoom(size: number): void {
    const needed = this.#waiting + size;
    if (needed > tailBytes && this.#temporary !== undefined) {
      this.#flush();
      if (this.#tail.length < tailBytes) this.#tail = Buffer.allocUnsafe(tailBytes);
      return;
    }
    const larger = Buffer.allocUnsafe(Math.max(firstBytes, needed, 2 * this.#tail.length));
    this.#tail.copy(larger, 0, 0, this.#waiting);
    this.#tail = larger;
  }

  #flush(): void {
    if (this.#waiting === 0) return;
    this.#write(this.#tail.subarray(0, this.#waiting), this.#written);
    this.#written += this.#waiting;
    this.#waiting = 0;
  }

  #flushed(): number {
    this.#flush();
    return this.#opened().fd;
  }

  #write(bytes: Uint8Array, position: number): void {
    const { name, fd } = this.#opened();
    inStore(name, () => writeAll(fd, bytes, position));
  }

  #opened(): TemporaryFile {
    // Only what has a folder is more than its tail.
    this.#file ??= openTemporary(this.#temporary!, this.#prefix);
    return this.#file;
  }
}
