import * as fs from 'node:fs';
import { inStore, makeFolderDurable, writeAll } from './durable.ts';
import { ReadAhead, readAt } from './read-at.ts';
import { removeTemporary, temporaryName } from './temporary.ts';

/** Bytes that wait in memory before they go to disk together. */
const tailBytes = 1 << 20;
/** Bytes that are handed on at a time. */
const pieceBytes = 1 << 18;

/**
 * A temporary file that grows, and is read meanwhile: for what is more than memory should hold. Needs `close`, which removes it.
 * What writes throws E_STORE_FULL and E_STORE.
 */
export class GrowingFile {
  readonly #name: string;
  readonly #fd: number;
  /** The last bytes, and how many come before them, which are on disk. */
  #tail = Buffer.allocUnsafe(0);
  #waiting = 0;
  #written = 0;

  /** @param temporary folder for it; made when it is not there */
  constructor(temporary: string) {
    this.#name = temporaryName(temporary);
    this.#fd = inStore(this.#name, () => {
      makeFolderDurable(temporary);
      return fs.openSync(this.#name, 'wx+');
    });
  }

  /** Bytes that were appended. */
  get size(): number {
    return this.#written + this.#waiting;
  }

  append(bytes: Uint8Array): void {
    if (this.#waiting + bytes.length > this.#tail.length) this.#makeRoom();
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
    const start = offset - this.#written;
    if (start >= 0 && start + size <= this.#waiting) return Buffer.from(this.#tail.subarray(start, start + size));
    this.#flush();
    return readAt(this.#fd, offset, size, this.#name);
  }

  /** For bytes that are read one behind the other: what `read` gives is good until the next, as long as nothing is written. */
  ahead(): { read: (offset: number, size: number) => Uint8Array } {
    this.#flush();
    const ahead = new ReadAhead(this.#fd, this.size);
    return { read: (offset, size) => ahead.read(offset, size, this.#name) };
  }

  /** All bytes in pieces, each of which is good until the next. @param stride pieces have whole records of so many bytes */
  *pieces(stride = 1): Generator<Uint8Array> {
    const { read } = this.ahead();
    const most = Math.max(stride, pieceBytes - (pieceBytes % stride));
    for (let at = 0; at < this.size; at += most) yield read(at, Math.min(most, this.size - at));
  }

  /** Forgets everything. */
  close(): void {
    fs.closeSync(this.#fd);
    removeTemporary(this.#name);
  }

  #makeRoom(): void {
    this.#flush();
    if (this.#tail.length === 0) this.#tail = Buffer.allocUnsafe(tailBytes);
  }

  #flush(): void {
    if (this.#waiting === 0) return;
    this.#write(this.#tail.subarray(0, this.#waiting), this.#written);
    this.#written += this.#waiting;
    this.#waiting = 0;
  }

  #write(bytes: Uint8Array, position: number): void {
    inStore(this.#name, () => writeAll(this.#fd, bytes, position));
  }
}
