import { toHex } from '../../../core/bytes.ts';
import { formatError } from '../../../core/errors.ts';
import { md5 } from '../../../core/hash.ts';
import { ByteWriter } from '../../../core/writer.ts';

/** What records are packed into. */
interface PageShape {
  /** Bytes of a page. */
  pageSize: number;
  /** Takes the pages one after the other; each is good until the next. */
  put: (page: Uint8Array) => unknown;
  /** Stands behind the last record of the last page, if there is room. */
  end?: Uint8Array;
}

/** Packs records, which come in the order of their keys, into pages, an unbroken one after the other. A table has the first key and the hash of each. */
export class RecordPages {
  readonly #shape: PageShape;
  readonly #table = new ByteWriter();
  readonly #page: Uint8Array;
  #used = 0;
  /** Number of pages that were put. */
  count = 0;

  constructor(shape: PageShape) {
    this.#shape = shape;
    this.#page = new Uint8Array(shape.pageSize);
  }

  /** @throws E_FORMAT_RANGE for a record that is larger than a page */
  add(key: Uint8Array, record: Uint8Array): void {
    if (record.length > this.#page.length)
      throw formatError('E_FORMAT_RANGE', 'encoding file', `the entry of ${toHex(key)} does not fit into a page`);
    if (this.#used + record.length > this.#page.length) this.#put();
    if (this.#used === 0) this.#table.raw(key);
    this.#page.set(record, this.#used);
    this.#used += record.length;
  }

  /** Puts the last page. @returns the table */
  finish(): Uint8Array {
    const { end } = this.#shape;
    if (end !== undefined && this.#used > 0 && this.#used + end.length <= this.#page.length)
      this.#page.set(end, this.#used);
    if (this.#used > 0) this.#put();
    return this.#table.written;
  }

  #put(): void {
    this.#table.raw(md5(this.#page));
    this.#shape.put(this.#page);
    this.count += 1;
    this.#page.fill(0);
    this.#used = 0;
  }
}
