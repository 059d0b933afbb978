import * as fs from 'node:fs';
import { equalBytes } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import { md5 } from '../../core/hash.ts';
import type { RecordTable } from '../../core/tables/record-table.ts';
import { readAt } from '../../files/read-at.ts';
import { decodeIndexToc, findInPage, type IndexEntry, pageEntries } from '../../formats/indices/archive-index.ts';
import { decodeIndexFooter, type IndexLayout, maxFooterSize } from '../../formats/indices/index-layout.ts';

const what = 'archive group';

/**
 * An index file on disk of which only the table of contents is in memory: 16 bytes for each page of 157 entries.
 * A look-up reads and checks one page. Needs `close`.
 */
export class PagedIndex {
  readonly layout: IndexLayout;
  readonly #fd: number;
  readonly #lastKeys: RecordTable;
  readonly #pageHashes: RecordTable;

  /** @throws E_FORMAT… when footer or table of contents are wrong; ENOENT as it comes */
  constructor(path: string) {
    this.#fd = fs.openSync(path, 'r');
    try {
      const { size } = fs.fstatSync(this.#fd);
      const tail = Math.min(size, maxFooterSize);
      this.layout = decodeIndexFooter(readAt(this.#fd, size - tail, tail, what), size);
      const toc = decodeIndexToc(readAt(this.#fd, this.layout.tocOffset, this.layout.tocSize, what), this.layout);
      this.#lastKeys = toc.lastKeys;
      this.#pageHashes = toc.pageHashes;
    } catch (error) {
      fs.closeSync(this.#fd);
      throw error;
    }
  }

  close(): void {
    fs.closeSync(this.#fd);
  }

  /** The entry with this ekey (16 bytes, or the first 9 of them), or undefined. */
  find(ekey: Uint8Array): IndexEntry | undefined {
    const page = this.#lastKeys.lowerBound(ekey);
    return page === this.#lastKeys.count ? undefined : findInPage(this.#page(page), ekey, this.layout);
  }

  /** All entries in the order of their ekeys, a page at a time. */
  *pages(): Generator<Iterable<IndexEntry>> {
    for (let page = 0; page < this.layout.pageCount; page++) {
      const left = this.layout.count - page * this.layout.entriesPerPage;
      yield pageEntries(this.#page(page), this.layout, Math.min(left, this.layout.entriesPerPage));
    }
  }

  #page(page: number): Uint8Array {
    const bytes = readAt(this.#fd, page * this.layout.pageSize, this.layout.pageSize, what);
    const hash = this.#pageHashes.at(page);
    if (!equalBytes(md5(bytes).subarray(0, hash.length), hash)) {
      throw formatError('E_FORMAT_CHECKSUM', what, `page ${page} is damaged`, { offset: page * this.layout.pageSize });
    }
    return bytes;
  }
}
