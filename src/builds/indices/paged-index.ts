import { compareKeys, viewOf } from '../../core/bytes.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import { decodeIndexToc, findInPage, type IndexEntry, pageEntries } from '../../formats/indices/archive-index.ts';
import { decodeIndexFooter, type IndexLayout, maxFooterSize } from '../../formats/indices/index-layout.ts';
import { DerivedFile } from '../../store/derived/derived-file.ts';

/** Pages that are read at once by those who go through all. */
const pagesAtOnce = 64;
/** Pages of look-ups that stay in memory, 4 MiB: all of a build of 150,000 entries. */
const mostKept = 1024;

/**
 * An index file on disk of which only the table of contents is in memory: 16 bytes for each page of 157 entries.
 * A look-up reads and checks one page. Needs `close`.
 */
export class PagedIndex {
  readonly layout: IndexLayout;
  readonly #file: DerivedFile;
  readonly #lastKeys: RecordTable;
  /** Pages of look-ups, in memory that is used again: one for each of millions of look-ups took longer than to read them. */
  #memory: Buffer | undefined;
  /** Where in the memory a page lies. */
  readonly #kept = new Map<number, Uint8Array>();

  /**
   * @param path the index, as a derived file
   * @param of the mark of the archives that it lists, see {@link groupMark}
   * @throws E_FORMAT_CHECKSUM when it is damaged or lists other archives; ENOENT as it comes
   */
  constructor(path: string, of?: number) {
    this.#file = new DerivedFile(path, { of });
    try {
      const { size } = this.#file;
      const tail = Math.min(size, maxFooterSize);
      this.layout = decodeIndexFooter(this.#file.read(size - tail, tail), size);
      const toc = this.#file.read(this.layout.tocOffset, this.layout.tocSize);
      this.#lastKeys = decodeIndexToc(toc, this.layout).lastKeys;
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  close(): void {
    this.#file.close();
  }

  /** False for a group that lacks archives whose indices could not be had when it was made. */
  get isWhole(): boolean {
    return !this.#file.path.endsWith('.part');
  }

  /** The entry with this ekey (16 bytes, or the first 9 of them), or undefined. Its own key is there until the next is looked for. */
  find(ekey: Uint8Array): IndexEntry | undefined {
    const page = this.#lastKeys.lowerBound(ekey);
    return page === this.#lastKeys.count ? undefined : findInPage(this.#keptPage(page), ekey, this.layout);
  }

  #keptPage(page: number): Uint8Array {
    const kept = this.#kept.get(page);
    if (kept !== undefined) return kept;
    const { pageSize, pageCount } = this.layout;
    this.#memory ??= Buffer.allocUnsafe(Math.min(mostKept, pageCount) * pageSize);
    // Keys are hashes, so none is likelier to come again than another: all go at once.
    if (this.#kept.size === mostKept) this.#kept.clear();
    const at = this.#kept.size * pageSize;
    const bytes = this.#page(page, this.#memory.subarray(at, at + pageSize));
    this.#kept.set(page, bytes);
    return bytes;
  }

  /** All entries in the order of their ekeys, a page at a time; the bytes of a page are there until the next is asked for. */
  *pages(): Generator<Iterable<IndexEntry>> {
    for (const { bytes, count } of this.recordPages()) yield pageEntries(bytes, this.layout, count);
  }

  /** As {@link pages}, the records as they are. */
  *recordPages(): Generator<RecordTable> {
    const { pageSize, pageCount, count, entriesPerPage, entrySize } = this.layout;
    const memory = Buffer.allocUnsafe(pageSize);
    for (let page = 0; page < pageCount; page++) {
      const left = count - page * entriesPerPage;
      yield new RecordTable(this.#page(page, memory), entrySize, Math.min(left, entriesPerPage));
    }
  }

  /**
   * Calls back for each entry whose ekey is in a sorted table of ekeys, with the number of its row there: both are walked side by side, and no object
   * is made for an entry. Gives way now and then.
   */
  *matches(
    keys: RecordTable,
    visit: (row: number, archive: number, offset: number, size: number) => void,
  ): Generator<void> {
    const { pageSize, pageCount, count, entriesPerPage, entrySize } = this.layout;
    // Its pages mostly are those of the file.
    const memory = Buffer.allocUnsafe((Math.min(pagesAtOnce, pageCount) + 1) * pageSize);
    let row = 0;
    for (let first = 0; first < pageCount && row < keys.count; first += pagesAtOnce) {
      const pages = Math.min(pagesAtOnce, pageCount - first);
      const bytes = this.#file.read(first * pageSize, pages * pageSize, memory);
      const view = viewOf(bytes);
      let at = 0;
      const entries = Math.min(count - first * entriesPerPage, pages * entriesPerPage);
      for (let i = 0; i < entries && row < keys.count; i++) {
        // The first of a page.
        if (i % entriesPerPage === 0) at = (i / entriesPerPage) * pageSize;
        let order = -1;
        for (; row < keys.count; row++) {
          order = compareKeys(keys.bytes, row * keys.stride, bytes, at);
          if (order >= 0) break;
        }
        if (order === 0) visit(row, view.getUint16(at + 20), view.getUint32(at + 22), view.getUint32(at + 16));
        at += entrySize;
      }
      yield;
    }
  }

  #page(page: number, memory: Uint8Array): Uint8Array {
    // The checksum of the file is enough, and made in a fifth of the time of the hash of the format.
    return this.#file.read(page * memory.length, memory.length, memory);
  }
}
