import { crc32 } from 'node:zlib';
import { breathe } from '../../core/breathe.ts';
import { fromHex } from '../../core/bytes.ts';
import { isDamage, type PakratError, resultUnless } from '../../core/errors.ts';
import type { RecordTable } from '../../core/tables/record-table.ts';
import {
  type CkeyEntry,
  ckeyEntries,
  decodeEncodingHeader,
  decodeEspecs,
  type EkeyEntry,
  type EncodingLayout,
  ekeyEntries,
  ekeyRecords,
  encodingHeaderSize,
  findCkeyInPage,
  findEkeyInPage,
  pageTable,
  verifyPage,
} from '../../formats/manifests/encoding/pages.ts';
import { DerivedFile } from '../../store/derived/derived-file.ts';
import { findContents } from './content-lookup.ts';

/** Pages that are read at once where most of them will be asked for. */
const pagesPerRead = 64;

/** A page that was read last: neighbours ask for the same one again. */
interface CachedPage {
  number: number;
  bytes: Uint8Array;
}

/**
 * A decoded encoding file on disk, of which only the two page tables are in memory. A look-up reads and checks one page.
 * Needs `close`.
 */
export class EncodingFile {
  readonly layout: EncodingLayout;
  readonly #file: DerivedFile;
  readonly #tables: Record<'ckey' | 'ekey', RecordTable>;
  readonly #cached: { ckey?: CachedPage; ekey?: CachedPage } = {};
  /** For each page whose MD5 was right once its CRC-32, which is faster; 0 for others. */
  readonly #checked: Record<'ckey' | 'ekey', Uint32Array>;
  #especs: string[] | undefined;

  /** @param path the decoded file, as a derived file @throws E_FORMAT… when the header is wrong or the file damaged; ENOENT as it comes */
  constructor(path: string) {
    const file = new DerivedFile(path);
    this.#file = file;
    try {
      this.layout = decodeEncodingHeader(file.read(0, Math.min(encodingHeaderSize, file.size)));
      const { ckeyTableOffset, ckeyPageCount, ekeyTableOffset, ekeyPageCount } = this.layout;
      this.#tables = {
        ckey: pageTable(file.read(ckeyTableOffset, ckeyPageCount * 32), this.layout, 'ckey'),
        ekey: pageTable(file.read(ekeyTableOffset, ekeyPageCount * 32), this.layout, 'ekey'),
      };
    } catch (error) {
      file.close();
      throw error;
    }
    this.#checked = {
      ckey: new Uint32Array(this.layout.ckeyPageCount),
      ekey: new Uint32Array(this.layout.ekeyPageCount),
    };
  }

  close(): void {
    this.#file.close();
  }

  /** Checks all of it, for those who go through all entries. @throws E_FORMAT_CHECKSUM */
  async checkAll(): Promise<void> {
    for (const _ of this.#file.checkAll()) await breathe();
  }

  /** Size and ekeys of a content, or undefined. */
  findCkey(ckey: string): CkeyEntry | undefined {
    const key = fromHex(ckey);
    const page = this.#pageFor('ckey', key);
    return page === undefined ? undefined : findCkeyInPage(page, key, this.layout);
  }

  /**
   * Size and ekeys of many contents at once: much faster than one by one.
   * @returns a function from the number of a key in `ckeys` to its entry, undefined where there is none
   */
  findCkeys(ckeys: readonly (string | undefined)[]): (row: number) => CkeyEntry | undefined {
    const isDense = ckeys.length > this.layout.ckeyPageCount / 8;
    const page = isDense ? this.#pageReader('ckey') : (number: number) => this.#page('ckey', number);
    return findContents(ckeys, { table: this.#tables.ckey, page });
  }

  /** Gives pages that are asked for in order, reading many at once into the same memory: each is there until the next is asked for. */
  #pageReader(kind: 'ckey' | 'ekey'): (number: number) => Uint8Array {
    const count = this.#pageCount(kind);
    const { size } = this.#placeOf(kind, 0);
    const memory = Buffer.allocUnsafe(Math.min(pagesPerRead, count) * size);
    let first = Number.NEGATIVE_INFINITY;
    return (number) => {
      if (number >= first + pagesPerRead) {
        const pages = Math.min(pagesPerRead, count - number);
        this.#file.readInto(memory.subarray(0, pages * size), this.#placeOf(kind, number).offset);
        first = number;
      }
      const at = (number - first) * size;
      return this.#verified(kind, number, memory.subarray(at, at + size));
    };
  }

  /** Encoded size and espec of an ekey, or undefined. */
  findEkey(ekey: string): EkeyEntry | undefined {
    const key = fromHex(ekey);
    const page = this.#pageFor('ekey', key);
    return page === undefined ? undefined : findEkeyInPage(page, key, this.layout);
  }

  /** Every ekey in order, but for those of damaged pages; with `wants` those only whose espec it takes. */
  *ekeys(wants?: (especIndex: number) => boolean): Generator<EkeyEntry> {
    for (const page of this.#rightPages('ekey')) yield* ekeyEntries(page, this.layout, wants);
  }

  /**
   * The rows of every right page of ekeys, as `ekeyRecords` has them: for those who want all, without an object for each. A page is
   * there until the next is asked for.
   */
  *ekeyPages(): Generator<RecordTable> {
    for (const page of this.#rightPages('ekey')) yield ekeyRecords(page, this.layout);
  }

  /** Every content in order, but for those of damaged pages; with `wants` those only whose first ekey it takes. */
  *ckeys(wants?: (firstEkey: Uint8Array) => boolean): Generator<CkeyEntry> {
    for (const page of this.#rightPages('ckey')) yield* ckeyEntries(page, this.layout, wants);
  }

  /**
   * Reads every page that was not checked yet. The file may be the right one and a page of it damaged: then it was published so.
   * @returns what is wrong with those that are damaged; they cost what they list, and nothing else
   */
  async damagedPages(signal?: AbortSignal): Promise<PakratError[]> {
    const problems: PakratError[] = [];
    for (const kind of ['ckey', 'ekey'] as const) {
      const read = this.#pageReader(kind);
      for (let number = 0; number < this.#pageCount(kind); number++) {
        if (this.#checked[kind][number] !== 0) continue;
        await breathe(signal);
        resultUnless(
          (error) => isDamage(error) && problems.push(error) > 0,
          () => read(number),
        );
      }
    }
    return problems;
  }

  *#rightPages(kind: 'ckey' | 'ekey'): Generator<Uint8Array> {
    const read = this.#pageReader(kind);
    for (let number = 0; number < this.#pageCount(kind); number++) {
      const page = resultUnless(isDamage, () => read(number));
      if (page !== undefined) yield page;
    }
  }

  #pageCount(kind: 'ckey' | 'ekey'): number {
    return kind === 'ckey' ? this.layout.ckeyPageCount : this.layout.ekeyPageCount;
  }

  /** The espec of a number from {@link findEkey}. */
  espec(index: number): string | undefined {
    return this.especs()[index];
  }

  /** Every espec, by its number. */
  especs(): readonly string[] {
    this.#especs ??= decodeEspecs(this.#file.read(this.layout.especOffset, this.layout.especSize));
    return this.#especs;
  }

  #pageFor(kind: 'ckey' | 'ekey', key: Uint8Array): Uint8Array | undefined {
    const table = this.#tables[kind];
    const after = table.lowerBound(key);
    const exact = after < table.count && Buffer.compare(table.at(after).subarray(0, key.length), key) === 0;
    const page = exact ? after : after - 1;
    return page < 0 ? undefined : this.#page(kind, page);
  }

  #page(kind: 'ckey' | 'ekey', number: number): Uint8Array {
    const cached = this.#cached[kind];
    if (cached?.number === number) return cached.bytes;
    const { offset, size } = this.#placeOf(kind, number);
    const bytes = this.#verified(kind, number, this.#file.readUnchecked(offset, size));
    this.#cached[kind] = { number, bytes };
    return bytes;
  }

  #placeOf(kind: 'ckey' | 'ekey', number: number): { offset: number; size: number } {
    const { layout } = this;
    const size = kind === 'ckey' ? layout.ckeyPageSize : layout.ekeyPageSize;
    return { offset: (kind === 'ckey' ? layout.ckeyPagesOffset : layout.ekeyPagesOffset) + number * size, size };
  }

  #verified(kind: 'ckey' | 'ekey', number: number, bytes: Uint8Array): Uint8Array {
    const checked = this.#checked[kind];
    const sum = crc32(bytes);
    if (sum !== 0 && checked[number] === sum) return bytes;
    try {
      verifyPage(bytes, this.#tables[kind].at(number));
    } catch (error) {
      const { offset, size } = this.#placeOf(kind, number);
      // Where it is this copy that is damaged, that is told; else the CDN has it so.
      this.#file.read(offset, size);
      throw error;
    }
    checked[number] = sum;
    return bytes;
  }
}
