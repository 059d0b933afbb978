import { asBuffer } from '../../core/bytes.ts';
import { formatError, isDamage, resultUnless } from '../../core/errors.ts';
import { firstNot } from '../../core/sorting/first-not.ts';
import { sortRecords } from '../../core/sorting/sort-records.ts';
import type { RecordTable } from '../../core/tables/record-table.ts';
import type { CkeyEntry } from '../../formats/manifests/encoding/pages.ts';

/*
 * Many contents looked up at once: their ckeys are sorted, and the pages of the encoding file are walked once, beside them.
 * Entries that were found stay bytes; keys become text when they are asked for.
 */

interface CkeyPages {
  /** First key and MD5 of each page. */
  table: RecordTable;
  /** A page that was checked; asked for in ascending order, several times for the same one at most in a row. */
  page: (number: number) => Uint8Array;
}

const keyBytes = 16;
/** A ckey, and its number in what was asked. */
const stride = keyBytes + 4;
/** Of an entry: number of ekeys u8, size u40, ckey. */
const ckeyAt = 6;
const ekeysAt = ckeyAt + keyBytes;

/**
 * Finds many contents.
 * @param ckeys hex; undefined finds nothing
 * @returns a function from the number of a key in `ckeys` to its entry, undefined where there is none, or in a damaged page
 * @throws E_FORMAT_TRUNCATED for a malformed page
 */
export function findContents(
  ckeys: readonly (string | undefined)[],
  pages: CkeyPages,
): (row: number) => CkeyEntry | undefined {
  const found = new FoundContents(ckeys.length);
  const cursor = new PageCursor(pages);
  const wanted = sortedKeys(ckeys);
  const view = asBuffer(wanted);
  for (let row = 0; row < wanted.length; row += stride) {
    const at = cursor.find(wanted, row);
    if (at !== undefined) found.add(view.readUInt32BE(row + keyBytes), asBuffer(cursor.page), at);
  }
  return (row) => found.entry(ckeys[row], row);
}

function sortedKeys(ckeys: readonly (string | undefined)[]): Uint8Array {
  const rows = Buffer.alloc(ckeys.length * stride);
  let size = 0;
  for (const [row, ckey] of ckeys.entries()) {
    if (ckey === undefined || rows.write(ckey, size, keyBytes, 'hex') < keyBytes) continue;
    rows.writeUInt32BE(row, size + keyBytes);
    size += stride;
  }
  const keys = rows.subarray(0, size);
  return size > stride ? sortRecords(keys, stride, keyBytes) : keys;
}

/** Goes along the pages, never back. */
class PageCursor {
  readonly #pages: CkeyPages;
  page: Uint8Array = new Uint8Array(0);
  #number = -1;
  #at = 0;

  constructor(pages: CkeyPages) {
    this.#pages = pages;
  }

  /** The offset of a key's entry in `page`; keys come in ascending order. */
  find(keys: Uint8Array, key: number): number | undefined {
    const before = this.#number;
    this.#number = this.#pageOf(keys, key);
    if (this.#number < 0) return undefined;
    if (this.#number !== before) {
      // What a damaged page lists is not found. Whoever asks for one content of it by itself hears why.
      this.page = resultUnless(isDamage, () => this.#pages.page(this.#number)) ?? new Uint8Array(0);
      this.#at = 0;
    }
    const { page } = this;
    for (let at = this.#at; page[at]; ) {
      const end = at + ekeysAt + page[at]! * keyBytes;
      if (end > page.length) {
        throw formatError('E_FORMAT_TRUNCATED', 'encoding ckey page', 'an entry runs over its end', { offset: at });
      }
      const order = compareKeys(page, at + ckeyAt, keys, key);
      this.#at = at;
      if (order >= 0) return order === 0 ? at : undefined;
      at = end;
    }
    return undefined;
  }

  /** The last page from this one on whose first key is not behind a key. */
  #pageOf(keys: Uint8Array, key: number): number {
    const { table } = this.#pages;
    const isNotBehind = (page: number): boolean => compareKeys(table.bytes, page * table.stride, keys, key) <= 0;
    return firstNot(this.#number + 1, table.count, isNotBehind) - 1;
  }
}

function compareKeys(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): number {
  for (let i = 0; i < keyBytes; i++) {
    const difference = a[aAt + i]! - b[bAt + i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The entries that were found, by the number of the key that was asked for. */
class FoundContents {
  readonly #sizes: Float64Array;
  /** Number of ekeys, 0 for what was not found; and where they begin among all of them. */
  readonly #counts: Uint8Array;
  readonly #starts: Uint32Array;
  #ekeys: Buffer;
  #used = 0;

  constructor(count: number) {
    this.#sizes = new Float64Array(count);
    this.#counts = new Uint8Array(count);
    this.#starts = new Uint32Array(count);
    this.#ekeys = Buffer.allocUnsafe(count * keyBytes);
  }

  add(row: number, page: Buffer, at: number): void {
    const count = page[at]!;
    const bytes = count * keyBytes;
    if (this.#used + bytes > this.#ekeys.length) this.#ekeys = Buffer.concat([this.#ekeys], this.#used * 2 + bytes);
    page.copy(this.#ekeys, this.#used, at + ekeysAt, at + ekeysAt + bytes);
    this.#sizes[row] = page.readUIntBE(at + 1, 5);
    this.#counts[row] = count;
    this.#starts[row] = this.#used;
    this.#used += bytes;
  }

  entry(ckey: string | undefined, row: number): CkeyEntry | undefined {
    if (ckey === undefined || this.#counts[row] === 0) return undefined;
    return new FoundContent(this, ckey, row);
  }

  size(row: number): number {
    return this.#sizes[row]!;
  }

  ekeys(row: number): string[] {
    const ekeys: string[] = [];
    const start = this.#starts[row]!;
    const end = start + this.#counts[row]! * keyBytes;
    for (let at = start; at < end; at += keyBytes) ekeys.push(this.#ekeys.toString('hex', at, at + keyBytes));
    return ekeys;
  }
}

class FoundContent implements CkeyEntry {
  readonly ckey: string;
  readonly #all: FoundContents;
  readonly #row: number;

  constructor(all: FoundContents, ckey: string, row: number) {
    this.ckey = ckey;
    this.#all = all;
    this.#row = row;
  }
  get size(): number {
    return this.#all.size(this.#row);
  }
  get ekeys(): string[] {
    return this.#all.ekeys(this.#row);
  }
}
