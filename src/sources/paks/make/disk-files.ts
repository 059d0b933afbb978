import { dirname, join, resolve } from 'node:path';
import { breathe } from '../../../core/breathe.ts';
import type { IdSet } from '../../../core/tables/id-set.ts';
import { fileSource } from '../../../files/file-source.ts';
import { readPieces } from '../../../files/pieces.ts';
import { SortedTexts } from '../../../files/sorted/sorted-texts.ts';
import type { PackFile } from '../../../paks/packing.ts';
import type { SortedFiles } from '../../../paks/sorted-files.ts';

/** How files are read that go into a PAK. */
export interface PackReading {
  signal: AbortSignal | undefined;
  /** Called with the bytes of a file when it was read for the first time since there is something to call. */
  onRead?: (bytes: number) => void;
  /** How many files were made, and the numbers of those that were read: by them, for one of very many is made anew each time it is read. */
  made: number;
  readonly counted: IdSet;
}

/** What the disk tells of a file: bytes, and when they were written. */
export interface FileStat {
  size: number;
  mtimeMs: number;
}

/** Where files come from: a file, or a folder whose files have their names in it, behind `below`. */
export interface FileOrigin {
  path: string;
  below: string | undefined;
}

/** A file of the disk under a name. */
export class DiskFile implements PackFile {
  readonly name: string;
  readonly size: number;
  readonly #origin: FileOrigin;
  readonly #modifiedMs: number;
  readonly #number: number;
  readonly #reading: PackReading;

  /** @param of.number of a file that is made anew */
  constructor(
    name: string,
    { origin, stat, number }: { origin: FileOrigin; stat: FileStat; number?: number },
    reading: PackReading,
  ) {
    this.name = name;
    this.size = stat.size;
    this.#origin = origin;
    // Dates have no more.
    this.#modifiedMs = Math.round(stat.mtimeMs);
    this.#number = number ?? reading.made++;
    this.#reading = reading;
  }

  get #path(): string {
    const { path, below } = this.#origin;
    return below === undefined ? path : join(path, this.name.slice(below.length));
  }

  get mtime(): Date {
    return new Date(this.#modifiedMs);
  }

  async *open(): AsyncGenerator<Uint8Array> {
    const { signal, onRead, counted } = this.#reading;
    await breathe(signal);
    const source = await fileSource(this.#path);
    try {
      // All of it, should it have grown: the writer then sees that it changed.
      for await (const piece of readPieces(source, 0, Math.max(this.size, source.size))) {
        yield piece;
        await breathe(signal);
      }
    } finally {
      await source.close();
    }
    // A writer may read a file twice: for a hash, then to store it. It counts once.
    if (onRead !== undefined && counted.add(this.#number)) onRead(this.size);
  }
}

/** What is kept beside a name: number of the origin u32, size and time of change as doubles. */
const besideSize = 20;

/**
 * Any number of files that go into a PAK, sorted by their names. A few are held in memory, more lie in a file beside the PAK; a path is made of a name when it is
 * needed. Needs `close`.
 */
export class SortedDiskFiles implements SortedFiles {
  readonly isSorted = true;
  /** How many there are, and their bytes. */
  count = 0;
  bytes = 0;
  readonly #origins: readonly FileOrigin[];
  readonly #reading: PackReading;
  readonly #texts: SortedTexts;
  readonly #beside = Buffer.alloc(besideSize);

  /** @param out the PAK */
  constructor(out: string, origins: readonly FileOrigin[], reading: PackReading) {
    this.#origins = origins;
    this.#reading = reading;
    this.#texts = new SortedTexts(dirname(resolve(out)), '.pakrat-');
  }

  /** Forgets everything. */
  close(): void {
    this.#texts.close();
  }

  /** @param origin number of the origin */
  add(name: string, origin: number, { size, mtimeMs }: FileStat): void {
    this.#beside.writeUInt32LE(origin, 0);
    this.#beside.writeDoubleLE(size, 4);
    this.#beside.writeDoubleLE(mtimeMs, 12);
    this.#texts.add(name, this.#beside);
    this.count += 1;
    this.bytes += size;
  }

  *[Symbol.iterator](): Generator<DiskFile> {
    let number = 0;
    for (const { bytes, start, end } of this.#texts.rows()) {
      const name = bytes.toString('utf8', start, end);
      const origin = this.#origins[bytes.readUInt32LE(end)]!;
      const stat = { size: bytes.readDoubleLE(end + 4), mtimeMs: bytes.readDoubleLE(end + 12) };
      yield new DiskFile(name, { origin, stat, number }, this.#reading);
      number += 1;
    }
  }
}
