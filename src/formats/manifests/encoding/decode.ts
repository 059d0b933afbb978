// A whole encoding file in memory, checked. The layout, and reading page by page, is in pages.ts.

import { equalBytes, toHex } from '../../../core/bytes.ts';
import { formatError } from '../../../core/errors.ts';
import { repeatable } from '../../../core/repeatable.ts';
import { RecordTable } from '../../../core/tables/record-table.ts';
import type { EncodingContent } from './encode.ts';
import {
  type CkeyEntry,
  ckeyEntries,
  decodeEncodingHeader,
  decodeEspecs,
  type EkeyEntry,
  type EncodingLayout,
  ekeyEntries,
  encodingKeyBytes,
  findCkeyInPage,
  findEkeyInPage,
  findPage,
  type KeyLike,
  pageTable,
  verifyPage,
} from './pages.ts';

const format = 'encoding file';

/** A whole encoding file in memory: what {@link encodeEncoding} takes, with pages that stay bytes. Entries are in key order. */
export interface Encoding extends EncodingContent {
  readonly layout: EncodingLayout;
  /** The espec of the file itself; empty when it does not say. */
  readonly ownEspec: string;
  findCkey(ckey: KeyLike): CkeyEntry | undefined;
  findEkey(ekey: KeyLike): EkeyEntry | undefined;
}

/**
 * Reads a whole encoding file and checks every page.
 * @throws E_FORMAT… when it is none or cut off, E_INTEGRITY when a page differs from its hash
 */
export function decodeEncoding(bytes: Uint8Array): Encoding {
  const layout = decodeEncodingHeader(bytes);
  if (bytes.length < layout.ownEspecOffset) {
    throw formatError('E_FORMAT_TRUNCATED', format, 'it is shorter than its header says', {
      expected: layout.ownEspecOffset,
      found: bytes.length,
    });
  }
  const ckeyPages = new Pages(bytes, layout, 'ckey');
  const ekeyPages = new Pages(bytes, layout, 'ekey');
  return {
    layout,
    especs: decodeEspecs(bytes.subarray(layout.especOffset, layout.ckeyTableOffset)),
    ownEspec: new TextDecoder().decode(bytes.subarray(layout.ownEspecOffset)),
    findCkey: (ckey) => findIn(ckeyPages, ckey, findCkeyInPage),
    findEkey: (ekey) => findIn(ekeyPages, ekey, findEkeyInPage),
    ckeys: repeatable(function* () {
      for (const page of ckeyPages) yield* ckeyEntries(page, layout);
    }),
    ekeys: repeatable(function* () {
      for (const page of ekeyPages) yield* ekeyEntries(page, layout);
    }),
  };
}

type FindInPage<T> = (page: Uint8Array, key: KeyLike, layout: EncodingLayout) => T | undefined;

function findIn<T>(pages: Pages, key: KeyLike, find: FindInPage<T>): T | undefined {
  const number = findPage(pages.table, key);
  return number === undefined ? undefined : find(pages.at(number), key, pages.layout);
}

/** The pages of one kind, checked. */
class Pages {
  readonly layout: EncodingLayout;
  readonly table: RecordTable;
  readonly #pages: RecordTable;

  constructor(bytes: Uint8Array, layout: EncodingLayout, kind: 'ckey' | 'ekey') {
    const [tableAt, pagesAt, size] =
      kind === 'ckey'
        ? [layout.ckeyTableOffset, layout.ckeyPagesOffset, layout.ckeyPageSize]
        : [layout.ekeyTableOffset, layout.ekeyPagesOffset, layout.ekeyPageSize];
    this.layout = layout;
    this.table = pageTable(bytes.subarray(tableAt, pagesAt), layout, kind);
    this.#pages = new RecordTable(bytes.subarray(pagesAt), size, this.table.count);
    for (let number = 0; number < this.table.count; number++) this.#check(number, kind);
  }

  #check(number: number, kind: 'ckey' | 'ekey'): void {
    const page = this.at(number);
    const row = this.table.at(number);
    verifyPage(page, row);
    const keyOffset = kind === 'ckey' ? 6 : 0;
    const [expected, found] = [
      row.subarray(0, encodingKeyBytes),
      page.subarray(keyOffset, keyOffset + encodingKeyBytes),
    ];
    if (equalBytes(expected, found)) return;
    throw formatError('E_FORMAT', `encoding ${kind} page ${number}`, 'it starts with another key than its table says', {
      expected: toHex(expected),
      found: toHex(found),
    });
  }

  at(number: number): Uint8Array {
    return this.#pages.at(number);
  }
  [Symbol.iterator](): Iterator<Uint8Array> {
    return this.#pages[Symbol.iterator]();
  }
}
