import { ByteWriter } from '../core/writer.ts';
import { GrowingFile } from './growing-file.ts';

/** Bytes of a piece: whole blocks of any cipher. */
const pieceBytes = 1 << 16;

/**
 * A file that grows by numbers and texts, and is then read from its first byte to its last, more than once if need be. Needs `close`. What writes or reads throws
 * E_STORE_FULL and E_STORE.
 */
export class Spool {
  readonly #file: GrowingFile;
  /** What was written last. */
  readonly #writer = new ByteWriter(2 * pieceBytes);

  /** As those of {@link GrowingFile}. */
  constructor(...where: ConstructorParameters<typeof GrowingFile>) {
    this.#file = new GrowingFile(...where);
  }

  /** Bytes so far. */
  get size(): number {
    return this.#file.size + this.#writer.size;
  }

  /** Takes the next bytes; to be asked for again for those that follow. */
  get writer(): ByteWriter {
    if (this.#writer.size >= pieceBytes) this.#flush();
    return this.#writer;
  }

  /** Takes bytes of which there may be many. */
  write(bytes: Uint8Array): void {
    this.#flush();
    this.#file.append(bytes);
  }

  /** All bytes, in pieces of 64 KiB but the last; they are the caller's. */
  *pieces(): Generator<Uint8Array> {
    this.#flush();
    const { size } = this.#file;
    for (let at = 0; at < size; at += pieceBytes) yield this.#file.read(at, Math.min(pieceBytes, size - at));
  }

  /** Forgets everything. */
  close(): void {
    this.#file.close();
  }

  #flush(): void {
    this.#file.append(this.#writer.written);
    this.#writer.clear();
  }
}
