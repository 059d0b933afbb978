// A whole encoding file in memory, checked. The layout, and reading page by page, is in pages.ts.

import { toHex } from '../../../core/bytes.ts';
import { formatError } from '../../../core/errors.ts';
import { repeatable } from '../../../core/reader.ts';
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
  findCkeyInPage,
  findEkeyInPage,
  findPage,
  type KeyLike,
  pageTable,
  verifyPage,
} from './pages.ts';

const format = 'encoding file';
const keySize = 16;
/** Of the ckey in its entry, behind the number of its ekeys and its size. */
const ckeyOffset = 6;

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
    const facts = { expected: layout.ownEspecOffset, found: bytes.length };
    throw formatError('E_FORMAT_TRUNCATED', format, 'it is shorter than its header says', facts);
  }
  const ckeyPages = checkedPages(bytes, layout, 'ckey');
  const ekeyPages = checkedPages(bytes, layout, 'ekey');
  return {
    layout,
    especs: decodeEspecs(bytes.subarray(layout.especOffset, layout.ckeyTableOffset)),
    ownEspec: new TextDecoder().decode(bytes.subarray(layout.ownEspecOffset)),
    findCkey(ckey) {
      const page = findIn(ckeyPages, ckey);
      return page && findCkeyInPage(page, ckey, layout);
    },
    findEkey(ekey) {
      const page = findIn(ekeyPages, ekey);
      return page && findEkeyInPage(page, ekey, layout);
    },
    ckeys: repeatable(function* () {
      for (const page of ckeyPages.pages) yield* ckeyEntries(page, layout);
    }),
    ekeys: repeatable(function* () {
      for (const page of ekeyPages.pages) yield* ekeyEntries(page, layout);
    }),
  };
}

interface Pages {
  table: RecordTable;
  pages: RecordTable;
}

function checkedPages(bytes: Uint8Array, layout: EncodingLayout, kind: 'ckey' | 'ekey'): Pages {
  const [tableAt, pagesAt, size] =
    kind === 'ckey'
      ? [layout.ckeyTableOffset, layout.ckeyPagesOffset, layout.ckeyPageSize]
      : [layout.ekeyTableOffset, layout.ekeyPagesOffset, layout.ekeyPageSize];
  const table = pageTable(bytes.subarray(tableAt, pagesAt), layout, kind);
  const pages = new RecordTable(bytes.subarray(pagesAt), size, table.count);
  const keyAt = kind === 'ckey' ? ckeyOffset : 0;
  for (let i = 0; i < table.count; i++) {
    verifyPage(pages.at(i), table.at(i));
    const firstKey = pages.at(i).subarray(keyAt, keyAt + keySize);
    if (table.compare(i, firstKey) === 0) continue;
    const facts = { expected: toHex(table.at(i).subarray(0, keySize)), found: toHex(firstKey) };
    const what = `encoding ${kind} page ${i}`;
    throw formatError('E_FORMAT', what, 'it starts with another key than its table says', facts);
  }
  return { table, pages };
}

function findIn({ table, pages }: Pages, key: KeyLike): Uint8Array | undefined {
  const number = findPage(table, key);
  return number === undefined ? undefined : pages.at(number);
}
