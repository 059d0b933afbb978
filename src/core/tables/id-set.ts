import { formatError } from '../errors.ts';

/** Ids of a page, and its bytes: a bit for each. */
const pageIds = 0x10000;
const pageSize = pageIds / 8;
const recordSize = 2 + pageSize;

/** How many bits of a byte are set. */
const bitsOf = Uint8Array.from({ length: 0x100 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

/** Many 32-bit ids in little memory: a bit each, in pages that are made when the first id of theirs comes. */
export class IdSet {
  readonly #pages = new Map<number, Uint8Array>();
  #size = 0;
  /** The page that was added to last. */
  #lastHigh = -1;
  #last: Uint8Array = new Uint8Array();

  /** Number of ids. */
  get size(): number {
    return this.#size;
  }

  /** @returns whether it is new */
  add(id: number): boolean {
    const page = this.#pageOf(id >>> 16);
    const [at, bit] = [(id & 0xffff) >>> 3, 1 << (id & 7)];
    if ((page[at]! & bit) !== 0) return false;
    page[at]! |= bit;
    this.#size += 1;
    return true;
  }

  /** Ids that follow one another are mostly of one page. */
  #pageOf(high: number): Uint8Array {
    if (high === this.#lastHigh) return this.#last;
    const page = this.#pages.get(high) ?? new Uint8Array(pageSize);
    this.#pages.set(high, page);
    this.#lastHigh = high;
    this.#last = page;
    return page;
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

  /** A set of its own with the same ids. */
  copy(): IdSet {
    const set = new IdSet();
    for (const [high, page] of this.#pages) set.#pages.set(high, page.slice());
    set.#size = this.#size;
    return set;
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
      const page = new Uint8Array(bytes.subarray(at + 2, at + recordSize));
      set.#pages.set(bytes[at]! * 256 + bytes[at + 1]!, page);
      for (const byte of page) set.#size += bitsOf[byte]!;
    }
    return set;
  }
}
