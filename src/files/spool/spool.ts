import * as fs from 'node:fs';
import { ByteWriter } from '../../core/writer.ts';
import { makeFolderDurable, writeAll } from '../durable.ts';
import { readAt } from '../read-at.ts';
import { removeTemporary, temporaryName } from '../temporary.ts';

/** Bytes of a piece: whole blocks of any cipher. */
const pieceBytes = 1 << 16;
/** Pieces that are held in memory where there is a folder for more. */
const mostHeld = 16;

/**
 * Any number of bytes that are written one behind the other, and then read from the first to the last, more than once if need be. A few are held in memory,
 * more lie on disk. Needs `close`.
 */
export class Spool {
  readonly #temporary: string | undefined;
  readonly #prefix: '' | '.pakrat-';
  /** What was written last; the pieces before it are held, or lie in the file. */
  readonly #writer = new ByteWriter(2 * pieceBytes);
  #held: Uint8Array[] = [];
  #file: { name: string; fd: number } | undefined;
  #pieces = 0;

  /**
   * @param temporary a folder, which is made; without it all is held in memory
   * @param prefix as temporaryName has it
   */
  constructor(temporary: string | undefined, prefix: '' | '.pakrat-' = '') {
    this.#temporary = temporary;
    this.#prefix = prefix;
  }

  /** Bytes so far. */
  get size(): number {
    return this.#pieces * pieceBytes + this.#writer.size;
  }

  /** Takes the next bytes; to be asked for again for those that follow. Throws what the system says of a full disk. */
  get writer(): ByteWriter {
    if (this.#writer.size >= pieceBytes) this.#flush();
    return this.#writer;
  }

  /** Takes bytes of which there may be many. Throws as {@link writer}. */
  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += pieceBytes) this.writer.raw(bytes.subarray(at, at + pieceBytes));
  }

  /** All bytes, in pieces of 64 KiB but the last; they are the caller's. */
  *pieces(): Generator<Uint8Array> {
    this.#flush();
    for (let piece = 0; piece < this.#pieces; piece++) {
      if (this.#file === undefined) yield this.#held[piece]!;
      else yield readAt(this.#file.fd, piece * pieceBytes, pieceBytes, 'spool');
    }
    if (this.#writer.size > 0) yield this.#writer.bytes();
  }

  /** Forgets everything. */
  close(): void {
    this.#held = [];
    if (this.#file === undefined) return;
    fs.closeSync(this.#file.fd);
    removeTemporary(this.#file.name);
    this.#file = undefined;
  }

  /** Puts whole pieces where they stay. */
  #flush(): void {
    const { written } = this.#writer;
    if (written.length < pieceBytes) return;
    let at = 0;
    for (; at + pieceBytes <= written.length; at += pieceBytes) this.#put(written.subarray(at, at + pieceBytes));
    const rest = written.slice(at);
    this.#writer.clear();
    this.#writer.raw(rest);
  }

  #put(piece: Uint8Array): void {
    if (this.#held.length === mostHeld && this.#temporary !== undefined) this.#moveToDisk(this.#temporary);
    if (this.#file === undefined) this.#held.push(piece.slice());
    else writeAll(this.#file.fd, piece, this.#pieces * pieceBytes);
    this.#pieces += 1;
  }

  #moveToDisk(temporary: string): void {
    makeFolderDurable(temporary);
    const name = temporaryName(temporary, this.#prefix);
    this.#file = { name, fd: fs.openSync(name, 'wx+') };
    for (const [piece, bytes] of this.#held.entries()) writeAll(this.#file.fd, bytes, piece * pieceBytes);
    this.#held = [];
  }
}
