import { join } from 'node:path';
import { isAllZero, toHex } from '../../core/bytes.ts';
import { isPakratError, messageOf, PakratError } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import { sortRecords } from '../../core/sorting/sort-records.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import { ByteWriter } from '../../core/writer.ts';
import { readable, readOwn, sizeOfFile } from '../../files/read-at.ts';
import { namesIn } from '../../files/walk.ts';
import { decodeLocalHeader, localHeaderSize } from '../../formats/local/local-header.ts';
import {
  bucketCount,
  bucketOf,
  decodeLocalIndex,
  type LocalEntry,
  type LocalIndex,
  localKeySize,
} from '../../formats/local/local-index.ts';
import { OpenFiles } from '../read-file.ts';

/** The BLTE object of an entry in a data file; or the reason for which there is none. */
export type LocalBlte =
  | { file: string; offset: number; size: number; problem?: undefined }
  | { problem: { code: 'E_NOT_FOUND' | 'E_INTEGRITY'; message: string } };

/** A file that is an index, and which of its kind it is. */
interface IndexFile {
  path: string;
  bucket: number;
  generation: number;
}

/** The client makes them far smaller. */
const maxIndexSize = 256 << 20;
const magic = 'BLTE';

/**
 * The folder of an installation with the `.idx` and `data.NNN` files. An index is read when the first entry of its bucket is asked for.
 * Only reads, and needs `close`.
 */
export class LocalStorage {
  readonly folder: string;
  /** Remarks for a reader, as they come up. */
  readonly notes: string[] = [];
  readonly #files: IndexFile[];
  readonly #indices = new Map<number, LocalIndex | undefined>();
  /** Errors of buckets that have files, of which none can be read. */
  readonly #failures = new Map<number, unknown>();
  readonly #open = new OpenFiles();

  /** @throws E_NOT_FOUND when there is no index in the folder */
  constructor(folder: string) {
    this.folder = folder;
    this.#files = indexFiles(folder);
    if (this.#files.length > 0) return;
    throw new PakratError('E_NOT_FOUND', `${folder} holds no .idx file`, { data: { path: folder } });
  }

  close(): void {
    this.#open.close();
  }

  /**
   * The entry of an ekey (9 bytes or more), or undefined when it is not installed.
   * @throws E_FORMAT… when none of the index files that may know it can be read
   */
  find(ekey: Uint8Array): LocalEntry | undefined {
    return this.#index(bucketOf(ekey))?.find(ekey);
  }

  /** The newest index of a bucket that can be read: another one may have been cut off while it was written. */
  #index(bucket: number): LocalIndex | undefined {
    if (this.#failures.has(bucket)) throw this.#failures.get(bucket);
    if (!this.#indices.has(bucket)) this.#indices.set(bucket, this.#load(bucket));
    return this.#indices.get(bucket);
  }

  #load(bucket: number): LocalIndex | undefined {
    let first: unknown;
    for (const file of this.#files.filter((each) => each.bucket === bucket)) {
      try {
        return loadIndex(file);
      } catch (error) {
        if (!isPakratError(error)) throw error;
        first ??= error;
        this.notes.push(`${file.path} cannot be read, and an older one is taken where there is one: ${error.message}`);
      }
    }
    if (first === undefined) return undefined;
    this.#failures.set(bucket, first);
    throw first;
  }

  /** Every entry, in the order in which they lie on disk. */
  *sorted(): Generator<LocalEntry> {
    // A row for each: archive and offset (5 bytes), key (9), size (u32).
    const rows = new ByteWriter();
    for (const { key, archive, offset, size } of this.#entries()) {
      rows.uint(archive * 2 ** 30 + offset, 5);
      rows.raw(key).u32(size);
    }
    for (const row of new RecordTable(sortRecords(rows.bytes(), rowStride, 5), rowStride)) {
      const reader = new ByteReader(row, 'entry');
      const position = reader.uint(5);
      const key = reader.take(localKeySize);
      yield { key, archive: Math.floor(position / 2 ** 30), offset: position % 2 ** 30, size: reader.u32() };
    }
  }

  /** The number of all entries, and their bytes. */
  amount(): { entries: number; bytes: number } {
    const sum = { entries: 0, bytes: 0 };
    for (const { size } of this.#entries()) {
      sum.entries += 1;
      sum.bytes += size;
    }
    return sum;
  }

  /** The entries of all buckets that can be read; those that cannot are among the notes. */
  *#entries(): Generator<LocalEntry> {
    for (let bucket = 0; bucket < bucketCount; bucket++) {
      let index: LocalIndex | undefined;
      try {
        index = this.#index(bucket);
      } catch (error) {
        if (!isPakratError(error)) throw error;
      }
      if (index !== undefined) yield* index;
    }
  }

  /** The newest index file of each bucket, to be checked. */
  newest(): { path: string; check: () => void }[] {
    // The newest of each bucket comes first among the files.
    const newest = this.#files.filter((file, i) => this.#files.findIndex(({ bucket }) => bucket === file.bucket) === i);
    return newest.map((file) => ({ path: file.path, check: () => void loadIndex(file) }));
  }

  /** The BLTE object of an entry. The local header in front of it may be missing, and it may never have been downloaded. */
  blteOf({ archive, offset, size }: LocalEntry): LocalBlte {
    const file = this.dataFile(archive);
    const held = this.#open.size(file);
    if (held === undefined) return notHere(`${file} is not there`);
    if (offset + size > held) return damaged(`${file} ends before byte ${offset + size}`);
    let head: Uint8Array;
    try {
      head = this.#open.read(file, offset, Math.min(size, localHeaderSize + magic.length));
    } catch (error) {
      if (!isPakratError(error)) throw error;
      return damaged(`${file}: ${error.message}`);
    }
    if (textAt(head, localHeaderSize) === magic) {
      return { file, offset: offset + localHeaderSize, size: size - localHeaderSize };
    }
    if (textAt(head, 0) === magic) return { file, offset, size };
    return isAllZero(head) ? notHere('its bytes were never downloaded') : damaged('there is no BLTE object');
  }

  /**
   * The fault of the local header of an entry, or undefined. Clients leave anything there, so it is held against the entry only
   * when it is about this entry with another size, or an intact one about another entry.
   */
  headerProblem({ key, archive, offset, size }: LocalEntry): string | undefined {
    const header = decodeLocalHeader(this.#open.read(this.dataFile(archive), offset, localHeaderSize));
    if (!header.ekey.startsWith(toHex(key))) {
      return header.isIntact ? `its local header is that of ${header.ekey}` : undefined;
    }
    return header.size === size ? undefined : `its local header says ${header.size} bytes, its index ${size}`;
  }

  /** The path of a data file. */
  dataFile(archive: number): string {
    return join(this.folder, `data.${String(archive).padStart(3, '0')}`);
  }

  /** Reads bytes of a data file. */
  read(file: string, offset: number, size: number): Uint8Array {
    return this.#open.read(file, offset, size);
  }
}

const rowStride = 5 + localKeySize + 4;

function textAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + magic.length));
}

function notHere(message: string): LocalBlte {
  return { problem: { code: 'E_NOT_FOUND', message } };
}

function damaged(message: string): LocalBlte {
  return { problem: { code: 'E_INTEGRITY', message } };
}

/** Index files, the newest of each bucket first: two hex digits of bucket, eight of generation. */
function indexFiles(folder: string): IndexFile[] {
  return namesIn(folder)
    .flatMap((name): IndexFile[] => {
      const [, bucket, generation] = /^(0[0-9a-f])([0-9a-f]{8})\.idx$/i.exec(name) ?? [];
      if (bucket === undefined || generation === undefined) return [];
      const path = join(folder, name);
      return [{ path, bucket: Number.parseInt(bucket, 16), generation: Number.parseInt(generation, 16) }];
    })
    .sort((a, b) => b.generation - a.generation);
}

function loadIndex({ path, bucket }: IndexFile): LocalIndex {
  try {
    const size = sizeOfFile(path) ?? 0;
    if (size > maxIndexSize) throw new PakratError('E_FORMAT_RANGE', `${size} bytes are too many for an index`);
    const index = decodeLocalIndex(readable(path, () => readOwn(path)));
    if (index.bucket === bucket) return index;
    throw new PakratError('E_FORMAT', `it is the index of bucket ${index.bucket}`);
  } catch (error) {
    if (!isPakratError(error)) throw error;
    throw new PakratError(error.code, `${path}: ${messageOf(error)}`, { data: { ...error.data, path }, cause: error });
  }
}
