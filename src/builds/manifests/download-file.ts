import { formatError } from '../../core/errors.ts';
import { giveBack, largeBytes } from '../../core/tables/large-bytes.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import {
  type DownloadEntry,
  type DownloadLayout,
  decodeDownloadEntry,
  decodeDownloadLayout,
  decodeDownloadTags,
  maxDownloadHeaderSize,
} from '../../formats/manifests/download.ts';
import type { Tag } from '../../formats/manifests/tags.ts';
import { DerivedFile } from '../../store/derived/derived-file.ts';

/** Entries that are read at once. */
const entriesAtOnce = 1 << 18;

/** Entries of a download manifest that lie one behind the other, as bytes. */
export interface DownloadPart {
  /** The number of the first. */
  first: number;
  /** Each begins with its ekey. They are there until the next part is asked for. */
  rows: RecordTable;
}

/** A decoded download manifest on disk, of which only the tags are in memory: entries are read part by part. Needs `close`. */
export class DownloadFile {
  readonly tags: readonly Tag[];
  readonly #layout: DownloadLayout;
  readonly #file: DerivedFile;

  /** Checks all of it, so that no part turns out to be damaged later. @param path the decoded manifest, as a derived file @throws E_FORMAT… when it is none, or damaged; ENOENT as it comes */
  constructor(path: string) {
    this.#file = new DerivedFile(path);
    try {
      for (const _ of this.#file.checkAll());
      const { size } = this.#file;
      this.#layout = decodeDownloadLayout(this.#file.read(0, Math.min(maxDownloadHeaderSize, size)));
      const { entriesAt, entrySize, count } = this.#layout;
      const tagsAt = entriesAt + count * entrySize;
      if (tagsAt > size) {
        const facts = { expected: tagsAt, found: size };
        throw formatError('E_FORMAT_TRUNCATED', 'download manifest', 'it ends before its tags', facts);
      }
      this.tags = decodeDownloadTags(this.#file.read(tagsAt, size - tagsAt), this.#layout);
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  close(): void {
    this.#file.close();
  }

  /** Number of entries. */
  get count(): number {
    return this.#layout.count;
  }

  /** What is taken off each priority. */
  get basePriority(): number {
    return this.#layout.shape.basePriority;
  }

  /** Entries of a part at the most; the first of each is a multiple of 8. */
  get mostInPart(): number {
    return Math.min(this.count, entriesAtOnce);
  }

  /** Bytes of an entry. */
  get entrySize(): number {
    return this.#layout.entrySize;
  }

  /** All entries, part by part. */
  *parts(): Generator<DownloadPart> {
    const { count, entrySize } = this.#layout;
    const memory = largeBytes(this.mostInPart * entrySize);
    try {
      for (let first = 0; first < count; first += entriesAtOnce) {
        const rows = memory.subarray(0, Math.min(entriesAtOnce, count - first) * entrySize);
        this.#file.readInto(rows, this.#layout.entriesAt + first * entrySize);
        yield { first, rows: new RecordTable(rows, entrySize) };
      }
    } finally {
      giveBack(memory);
    }
  }

  /** All entries, as objects: for those who look at each for a while. An ekey is there until the next is asked for. */
  *entries(): Generator<DownloadEntry> {
    for (const { rows } of this.parts()) for (const row of rows) yield decodeDownloadEntry(row, this.#layout.shape);
  }
}
