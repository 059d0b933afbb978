import * as fs from 'node:fs';
import { isDiskBroken, resultUnless } from '../../core/errors.ts';
import { inStore, makeFolderDurable, storeError, writeAll } from '../../files/durable.ts';
import { removeTemporary, temporaryName } from '../../files/temporary.ts';
import { findFile, openPartial, type PartialFile } from '../../store/partial-file.ts';
import { mergeSpans, type Span } from '../../store/spans.ts';
import type { Spool } from '../../verify/hash-buffer.ts';

/** Written bytes that ask for a flush to disk: they are what a power cut can cost for each file being written. A kill costs less, see adopt. */
const flushBytes = 16 * 1024 * 1024;
/** After this time what came is written and flushed, however little it is: on a slow line this is what an interruption costs. */
const flushMs = 250;
const replayBytes = 1024 * 1024;

/**
 * Writes verified bytes into one file of the store, in any order, and reports spans once they are on disk.
 * Flushing runs beside the writing: what was written before a flush began is reported when it ends. Needs `finish`.
 */
export class SpanWriter {
  readonly #file: string;
  readonly #places: PartialFile;
  readonly #temporary: string;
  readonly #report: (spans: Span[]) => void;
  #fd: number | undefined;
  #size: number | undefined;
  #unflushed: Span[] = [];
  #unflushedBytes = 0;
  #flushedAt = performance.now();
  #flushing: Promise<void> | undefined;
  #failure: unknown;

  /** @param temporary folder for what is not verified yet @param report told of spans whose bytes are on disk, with the names of new folders and files */
  constructor(places: PartialFile, temporary: string, report: (spans: Span[]) => void) {
    this.#file = places.file;
    this.#places = places;
    this.#temporary = temporary;
    this.#report = report;
  }

  /** Writes verified bytes at `position` of the file. @throws E_STORE_FULL, E_STORE */
  write(position: number, bytes: Uint8Array): void {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      writeAll(this.#open(), bytes, position);
    } catch (error) {
      this.#failure = storeError(error, this.#file);
      throw this.#failure;
    }
    this.#unflushed.push({ start: position, end: position + bytes.length });
    this.#unflushedBytes += bytes.length;
    if (this.isDue || this.#unflushedBytes >= flushBytes) this.#flush();
  }

  /** Takes bytes that were read from this file and turned out right: they are flushed and reported as if they had been written. */
  adopt(position: number, size: number): void {
    this.#unflushed.push({ start: position, end: position + size });
  }

  /** True when what waits for its hash should be checked and written, however little it is. */
  get isDue(): boolean {
    return this.#flushing === undefined && performance.now() - this.#flushedAt >= flushMs;
  }

  /** Size of the file, 0 when it is not there. */
  get size(): number {
    const { file, elsewhere = [] } = this.#places;
    this.#size ??= fs.statSync(findFile([file, ...elsewhere]), { throwIfNoEntry: false })?.size ?? 0;
    return this.#size;
  }

  /** Flushes what is left, reports it, and closes the file; also after an error, for what was written before it. @throws E_STORE… */
  async finish(): Promise<void> {
    try {
      await this.#flushing;
      if (this.#unflushed.length > 0) await this.#flush();
    } finally {
      const fd = this.#fd;
      this.#fd = undefined;
      if (fd !== undefined) fs.closeSync(fd);
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Bytes of the file as they are now, for what the store already holds of it: up to where it ends, or a broken disk does not give them. */
  read(position: number, size: number): Uint8Array {
    const bytes = Buffer.alloc(size);
    const fd = this.#open();
    let done = 0;
    // In front of what it does not give it gives less than is asked for.
    for (let more = -1; more !== 0 && done < size; done += more) {
      more = resultUnless(isDiskBroken, () => fs.readSync(fd, bytes, done, size - done, position + done)) ?? 0;
    }
    return bytes.subarray(0, done);
  }

  /** Room on disk for bytes that are not verified yet. @throws E_STORE…, as its `append` does */
  spool(): Spool {
    const name = temporaryName(this.#temporary);
    const fd = inStore(name, () => {
      makeFolderDurable(this.#temporary);
      const opened = fs.openSync(name, 'wx+');
      removeTemporary(name);
      return opened;
    });
    let size = 0;
    return {
      append(piece) {
        inStore(name, () => writeAll(fd, piece, size));
        size += piece.length;
      },
      replay(take) {
        for (let at = 0; at < size; ) {
          const piece = Buffer.allocUnsafe(Math.min(replayBytes, size - at));
          const done = fs.readSync(fd, piece, 0, piece.length, at);
          take(piece.subarray(0, done));
          at += done;
        }
      },
      close: () => fs.closeSync(fd),
    };
  }

  #open(): number {
    this.#fd ??= openPartial(this.#places);
    return this.#fd;
  }

  /** Starts a flush unless one runs; a failed flush is final for this file, for a second one may succeed with the bytes lost. */
  #flush(): Promise<void> {
    if (this.#flushing !== undefined) return this.#flushing;
    this.#flushedAt = performance.now();
    const spans = mergeSpans(this.#unflushed);
    this.#unflushed = [];
    this.#unflushedBytes = 0;
    this.#flushing = new Promise<void>((resolve) => {
      fs.fdatasync(this.#open(), (error) => {
        this.#flushing = undefined;
        if (error === null || error === undefined) {
          this.#report(spans);
        } else {
          this.#failure = storeError(error, this.#file);
          this.#unflushed = [];
        }
        resolve();
      });
    });
    return this.#flushing;
  }
}
