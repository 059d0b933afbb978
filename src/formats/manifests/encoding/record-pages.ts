import { toHex, u32At } from '../../../core/bytes.ts';
import { formatError } from '../../../core/errors.ts';
import { md5 } from '../../../core/hash.ts';
import { sortRecords } from '../../../core/sorting/sort-records.ts';
import { RecordTable } from '../../../core/tables/record-table.ts';
import { ByteWriter } from '../../../core/writer.ts';

const keySize = 16;
/** A key, and where its record begins. */
const placeSize = keySize + 4;
/** What the table has of a page: its first key, and its MD5. */
const tableRowSize = 2 * keySize;

/** What records are like. */
interface RecordShape {
  /** Bytes of the record at a place. */
  sizeAt: (records: Uint8Array, at: number) => number;
  /** Stands behind the last record of the last page, if there is room. */
  end?: Uint8Array;
}

/** Records by their keys, packed into pages, an unbroken one after the other, behind a table of first keys and hashes. They stay bytes: there are millions. */
export class RecordPages {
  readonly #pageSize: number;
  readonly #shape: RecordShape;
  readonly #records = new ByteWriter();
  #places = new ByteWriter();
  /** The places in the order of their keys, and the first of each page. */
  #sorted = new RecordTable(new Uint8Array(0), placeSize);
  readonly #firsts: number[] = [];

  constructor(pageSize: number, shape: RecordShape) {
    this.#pageSize = pageSize;
    this.#shape = shape;
  }

  /** Begins the record of a key, in hex. @returns what it is to be written to @throws E_FORMAT_RANGE for one of another size */
  begin(key: string): ByteWriter {
    if (key.length !== 2 * keySize)
      throw formatError('E_FORMAT_RANGE', 'encoding file', `${JSON.stringify(key)} is no key of ${keySize} bytes`);
    this.#places.key(key).u32(this.#records.size);
    return this.#records;
  }

  /** Puts the records in order, once all are there. @returns the number of pages @throws E_FORMAT_RANGE for one that is larger than a page */
  layOut(): number {
    this.#sorted = new RecordTable(sortRecords(this.#places.written, placeSize, keySize), placeSize);
    this.#places = new ByteWriter();
    let used = this.#pageSize;
    for (let i = 0; i < this.#sorted.count; i++) {
      const { size } = this.#recordOf(i);
      if (size > this.#pageSize) {
        const key = toHex(this.#sorted.at(i).subarray(0, keySize));
        throw formatError('E_FORMAT_RANGE', 'encoding file', `the entry of ${key} does not fit into a page`);
      }
      if (used + size > this.#pageSize) {
        this.#firsts.push(i);
        used = 0;
      }
      used += size;
    }
    return this.#firsts.length;
  }

  /** Bytes of the table, and of the pages behind it. For those who called {@link layOut}. */
  get tableSize(): number {
    return this.#firsts.length * tableRowSize;
  }
  get pagesSize(): number {
    return this.#firsts.length * this.#pageSize;
  }

  /** Writes table and pages to a place that has zeros. @returns where they end */
  writeTo(bytes: Uint8Array, at: number): number {
    const pagesAt = at + this.tableSize;
    for (const [i, first] of this.#firsts.entries()) {
      const page = bytes.subarray(pagesAt + i * this.#pageSize, pagesAt + (i + 1) * this.#pageSize);
      this.#fill(page, first, this.#firsts[i + 1] ?? this.#sorted.count);
      const row = at + i * tableRowSize;
      bytes.set(this.#sorted.at(first).subarray(0, keySize), row);
      bytes.set(md5(page), row + keySize);
    }
    return pagesAt + this.pagesSize;
  }

  #fill(page: Uint8Array, first: number, behind: number): void {
    let used = 0;
    for (let i = first; i < behind; i++) {
      const { start, size } = this.#recordOf(i);
      page.set(this.#records.written.subarray(start, start + size), used);
      used += size;
    }
    const { end } = this.#shape;
    if (end !== undefined && behind === this.#sorted.count && used + end.length <= page.length) page.set(end, used);
  }

  /** Where the record is whose key is number `i` in order. */
  #recordOf(i: number): { start: number; size: number } {
    const { bytes, stride } = this.#sorted;
    const start = u32At(bytes, i * stride + keySize);
    return { start, size: this.#shape.sizeAt(this.#records.written, start) };
  }
}
