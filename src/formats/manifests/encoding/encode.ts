// Writes encoding files; the layout is in pages.ts.

import { concatBytes } from '../../../core/bytes.ts';
import { formatError } from '../../../core/errors.ts';
import { md5 } from '../../../core/hash.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { type CkeyEntry, type EkeyEntry, type EncodingLayout, encodingHeaderSize } from './pages.ts';

/** The value of an encoding file to write. Entries may come in any order. */
export interface EncodingContent {
  readonly ckeys: Iterable<CkeyEntry>;
  readonly ekeys: Iterable<EkeyEntry>;
  readonly especs: readonly string[];
  /** The espec of the file itself. Left out: made of the sizes of its parts, which change with the entries. */
  readonly ownEspec?: string;
  /** Page sizes in bytes, multiples of 1024, and the byte of the header that nobody knows. Default: 4 KiB and 0. */
  readonly layout?: Partial<Pick<EncodingLayout, 'ckeyPageSize' | 'ekeyPageSize' | 'flags'>>;
}

const usualPageSize = 4096;
/** Encoding keys of a content at most: a page of the usual size has no room for more. */
const maxKeyCount = 254;
/** Key of zeros, espec index of ones: stands behind the last entry of the last ekey page, if there is room. */
const ekeyEnd = new Uint8Array(25).fill(0xff, 16, 20);

/**
 * Writes an encoding file, its pages filled one after the other. Its own espec, at the end, gives the sections in which it is to be
 * encoded: header, especs (deflated), tables and pages, and the espec itself (deflated).
 * @throws E_FORMAT_RANGE when an entry has no key, too many, or no room in a page, or names an espec that is not there
 */
export function encodeEncoding(content: EncodingContent): Uint8Array {
  const { ckeys, ekeys, especs } = content;
  const { ckeyPageSize = usualPageSize, ekeyPageSize = usualPageSize, flags = 0 } = content.layout ?? {};
  const especBlock = encodeEspecs(especs);
  const ckeyRecords = Array.from(ckeys, (entry) => ({ key: entry.ckey, record: encodeCkey(entry) }));
  const ekeyRecords = Array.from(ekeys, (entry) => ({ key: entry.ekey, record: encodeEkey(entry, especs.length) }));
  const ckeyPages = paginate(ckeyRecords, ckeyPageSize);
  const ekeyPages = paginate(ekeyRecords, ekeyPageSize, ekeyEnd);
  const header = new ByteWriter(encodingHeaderSize).text('EN').u8(1).u8(16).u8(16);
  header.u16(ckeyPageSize / 1024).u16(ekeyPageSize / 1024);
  header.u32(ckeyPages.count).u32(ekeyPages.count).u8(flags).u32(especBlock.length);
  const parts = [header.bytes(), especBlock, ckeyPages.table, ckeyPages.pages, ekeyPages.table, ekeyPages.pages];
  const ownEspec = content.ownEspec ?? sectionsEspec(parts.map((part) => part.length));
  return concatBytes([...parts, new TextEncoder().encode(ownEspec)]);
}

function sectionsEspec(sizes: readonly number[]): string {
  return `b:{${sizes.map((size, i) => `${size}=${i === 1 ? 'z' : 'n'}`).join(',')},*=z}`;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function encodeEspecs(especs: readonly string[]): Uint8Array {
  const writer = new ByteWriter();
  for (const espec of especs) writer.cstring(espec);
  return writer.bytes();
}

function encodeCkey({ ckey, size, ekeys }: CkeyEntry): Uint8Array {
  if (ekeys.length === 0 || ekeys.length > maxKeyCount) {
    const facts = { expected: `1 to ${maxKeyCount}` };
    throw formatError('E_FORMAT_RANGE', 'encoding file', `content ${ckey} has ${ekeys.length} encoding keys`, facts);
  }
  const writer = new ByteWriter(22 + ekeys.length * 16).u8(ekeys.length).u40(checkSize(size, ckey)).key(ckey);
  for (const ekey of ekeys) writer.key(ekey);
  return writer.bytes();
}

function encodeEkey({ ekey, especIndex, size }: EkeyEntry, especCount: number): Uint8Array {
  if (!(especIndex >= 0 && especIndex < especCount)) {
    const facts = { found: especIndex };
    throw formatError('E_FORMAT_RANGE', 'encoding file', `object ${ekey} has an espec that is not there`, facts);
  }
  return new ByteWriter(25).key(ekey).u32(especIndex).u40(checkSize(size, ekey)).bytes();
}

function checkSize(size: number, key: string): number {
  if (size >= 0 && size < 2 ** 40) return size;
  throw formatError('E_FORMAT_RANGE', 'encoding file', `the size of ${key} does not fit into 40 bits`, { found: size });
}

/** Packs records, by their keys, into pages, an unbroken one after the other, and makes the table of first keys and hashes. */
function paginate(
  records: readonly { readonly key: string; readonly record: Uint8Array }[],
  pageSize: number,
  end?: Uint8Array,
): { table: Uint8Array; pages: Uint8Array; count: number } {
  const table = new ByteWriter();
  const pages = new ByteWriter(records.length * 38);
  let page = new Uint8Array(pageSize);
  let used = 0;
  let firstKey = '';
  const close = (): void => {
    if (used === 0) return;
    table.key(firstKey).raw(md5(page));
    pages.raw(page);
    page = new Uint8Array(pageSize);
    used = 0;
  };
  const sorted = records.toSorted((a, b) => compareText(a.key, b.key));
  for (const { key, record } of sorted) {
    if (used + record.length > pageSize) close();
    if (record.length > pageSize) {
      throw formatError('E_FORMAT_RANGE', 'encoding file', `the entry of ${key} does not fit into a page`);
    }
    if (used === 0) firstKey = key;
    page.set(record, used);
    used += record.length;
  }
  if (end !== undefined && used > 0 && used + end.length <= pageSize) page.set(end, used);
  close();
  return { table: table.bytes(), pages: pages.bytes(), count: pages.size / pageSize };
}
