import { formatError } from '../errors.ts';

/** Ids of a page, and its bytes: a bit for each. */
const pageIds = 0x10000;
const pageSize = pageIds / 8;
const recordSize = 2 + pageSize;

/** Many 32-bit ids in little memory: a bit each, in pages that are made when the first id of theirs comes. */
export class IdSet {
  readonly #pages = new Map<number, Uint8Array>();
  #size = 0;

  /** Number of ids. */
  get size(): number {
    return this.#size;
  }

  add(id: number): void {
    let page = this.#pages.get(id >>> 16);
    if (page === undefined) {
      page = new Uint8Array(pageSize);
      this.#pages.set(id >>> 16, page);
    }
    const [at, bit] = [(id & 0xffff) >>> 3, 1 << (id & 7)];
    if ((page[at]! & bit) === 0) this.#size += 1;
    page[at]! |= bit;
  }

  has(id: number): boolean {
    const page = this.#pages.get(id >>> 16);
    return page !== undefined && (page[(id & 0xffff) >>> 3]! & (1 << (id & 7))) !== 0;
  }

  /** All ids, page by page, ascending within a page. */
  *[Symbol.iterator](): Generator<number> {
    for (const [high, page] of this.#pages) {
      for (let low = 0; low < pageIds; low++) {
        if (page[low >>> 3]! & (1 << (low & 7))) yield high * pageIds + low;
      }
    }
  }

  /** The set as bytes: for each page its number u16 and its bits. */
  bytes(): Uint8Array {
    const bytes = Buffer.alloc(this.#pages.size * recordSize);
    let at = 0;
    for (const [high, page] of this.#pages) {
      bytes.writeUInt16BE(high, at);
      bytes.set(page, at + 2);
      at += recordSize;
    }
    return bytes;
  }

  /** The set that {@link IdSet.bytes} wrote. @throws E_FORMAT_TRUNCATED when it is cut */
  static from(bytes: Uint8Array): IdSet {
    if (bytes.length % recordSize !== 0) throw formatError('E_FORMAT_TRUNCATED', 'set of ids', 'it is cut');
    const set = new IdSet();
    for (let at = 0; at < bytes.length; at += recordSize) {
      const high = bytes[at]! * 256 + bytes[at + 1]!;
      for (let low = 0; low < pageIds; low++) {
        if (bytes[at + 2 + (low >>> 3)]! & (1 << (low & 7))) set.add(high * pageIds + low);
      }
    }
    return set;
  }
}
