// Writes encoding files; the layout is in pages.ts.

import { formatError } from '../../../core/errors.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { type CkeyEntry, type EkeyEntry, type EncodingLayout, encodingHeaderSize } from './pages.ts';
import { RecordPages } from './record-pages.ts';

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
const ekeyRecordSize = 25;
/** Key of zeros, espec index of ones: stands behind the last entry of the last ekey page, if there is room. */
const ekeyEnd = new Uint8Array(ekeyRecordSize).fill(0xff, 16, 20);

function ckeyRecordSize(keyCount: number): number {
  return 22 + 16 * keyCount;
}

/**
 * Writes an encoding file, its pages filled one after the other. Its own espec, at the end, gives the sections in which it is to be
 * encoded: header, especs (deflated), tables and pages, and the espec itself (deflated).
 * @throws E_FORMAT_RANGE when an entry has no key, too many, or no room in a page, or names an espec that is not there
 */
export function encodeEncoding(content: EncodingContent): Uint8Array {
  const { especs } = content;
  const { ckeyPageSize = usualPageSize, ekeyPageSize = usualPageSize, flags = 0 } = content.layout ?? {};
  const especBlock = encodeEspecs(especs);
  const ckeys = new RecordPages(ckeyPageSize, { sizeAt: (records, at) => ckeyRecordSize(records[at]!) });
  for (const entry of content.ckeys) putCkey(ckeys, entry);
  const ekeys = new RecordPages(ekeyPageSize, { sizeAt: () => ekeyRecordSize, end: ekeyEnd });
  for (const entry of content.ekeys) putEkey(ekeys, entry, especs.length);
  const [ckeyPages, ekeyPages] = [ckeys.layOut(), ekeys.layOut()];
  const header = new ByteWriter(encodingHeaderSize).text('EN').u8(1).u8(16).u8(16);
  header.u16(ckeyPageSize / 1024).u16(ekeyPageSize / 1024);
  header.u32(ckeyPages).u32(ekeyPages).u8(flags).u32(especBlock.length);
  const pageSizes = [ckeys, ekeys].flatMap(({ tableSize, pagesSize }) => [tableSize, pagesSize]);
  const sizes = [header.size, especBlock.length, ...pageSizes];
  const ownEspec = new TextEncoder().encode(content.ownEspec ?? sectionsEspec(sizes));
  // All is written where it belongs: of millions of entries nothing should be there twice.
  const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + size, ownEspec.length));
  bytes.set(header.bytes());
  bytes.set(especBlock, header.size);
  const ckeysEnd = ckeys.writeTo(bytes, header.size + especBlock.length);
  bytes.set(ownEspec, ekeys.writeTo(bytes, ckeysEnd));
  return bytes;
}

function sectionsEspec(sizes: readonly number[]): string {
  return `b:{${sizes.map((size, i) => `${size}=${i === 1 ? 'z' : 'n'}`).join(',')},*=z}`;
}

function encodeEspecs(especs: readonly string[]): Uint8Array {
  const writer = new ByteWriter();
  for (const espec of especs) writer.cstring(espec);
  return writer.bytes();
}

function putCkey(pages: RecordPages, { ckey, size, ekeys }: CkeyEntry): void {
  if (ekeys.length === 0 || ekeys.length > maxKeyCount) {
    const facts = { expected: `1 to ${maxKeyCount}` };
    throw formatError('E_FORMAT_RANGE', 'encoding file', `content ${ckey} has ${ekeys.length} encoding keys`, facts);
  }
  const record = pages.begin(ckey).u8(ekeys.length).u40(checkSize(size, ckey)).key(ckey);
  for (const ekey of ekeys) record.key(ekey);
}

function putEkey(pages: RecordPages, { ekey, especIndex, size }: EkeyEntry, especCount: number): void {
  if (!(especIndex >= 0 && especIndex < especCount)) {
    const facts = { found: especIndex };
    throw formatError('E_FORMAT_RANGE', 'encoding file', `object ${ekey} has an espec that is not there`, facts);
  }
  pages.begin(ekey).key(ekey).u32(especIndex).u40(checkSize(size, ekey));
}

function checkSize(size: number, key: string): number {
  if (size >= 0 && size < 2 ** 40) return size;
  throw formatError('E_FORMAT_RANGE', 'encoding file', `the size of ${key} does not fit into 40 bits`, { found: size });
}
