// Writes encoding files; the layout is in pages.ts.

import { compareBytes, concatBytes, fromHex, toHex } from '../../../core/bytes.ts';
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

const keySize = 16;
const usualPageSize = 4096;
/** Bytes of a record of the ckey pages without its ekeys. */
const ckeyFixedSize = 22;
/** Encoding keys of a content at most: a page of the usual size has no room for more. */
const maxKeyCount = 254;
const ekeyRecordSize = 25;
/** Key of zeros, espec index of ones: stands behind the last entry of the last ekey page, if there is room. */
const ekeyEnd = new Uint8Array(ekeyRecordSize).fill(0xff, 16, 20);

/** An encoding file to write whose entries come in the order of their keys, and are bytes: there may be millions. */
export interface SortedEncodingContent extends Omit<EncodingContent, 'ckeys' | 'ekeys'> {
  readonly ckeys: Iterable<{ ckey: Uint8Array; size: number; ekeys: readonly Uint8Array[] }>;
  readonly ekeys: Iterable<{ ekey: Uint8Array; especIndex: number; size: number }>;
}

/** What takes the pages of each kind, one after the other; each is good until the next. */
export interface EncodingPages {
  readonly ckeys: (page: Uint8Array) => unknown;
  readonly ekeys: (page: Uint8Array) => unknown;
}

/** The parts of an encoding file beside its pages: `head`, pages of ckeys, `ekeyTable`, pages of ekeys, `ownEspec`. */
export interface EncodingParts {
  /** Header, especs, and the table of the pages of ckeys. */
  readonly head: Uint8Array;
  readonly ekeyTable: Uint8Array;
  /** How the file itself is encoded. */
  readonly ownEspec: Uint8Array;
}

/**
 * Writes an encoding file, its pages filled one after the other. Its own espec, at the end, gives the sections in which it is to be
 * encoded: header, especs (deflated), tables and pages, and the espec itself (deflated).
 * @throws E_FORMAT_RANGE when an entry has no key, too many, one of a wrong size, or no room in a page, or names an espec that is not there
 */
export function encodeEncoding(content: EncodingContent): Uint8Array {
  const ckeys = Array.from(content.ckeys, ({ ckey, size, ekeys }) => ({
    ckey: keyOf(ckey),
    size,
    ekeys: ekeys.map(keyOf),
  }));
  const ekeys = Array.from(content.ekeys, ({ ekey, ...facts }) => ({ ekey: keyOf(ekey), ...facts }));
  ckeys.sort((a, b) => compareBytes(a.ckey, b.ckey));
  ekeys.sort((a, b) => compareBytes(a.ekey, b.ekey));
  const pages = { ckeys: new ByteWriter(), ekeys: new ByteWriter() };
  const put: EncodingPages = { ckeys: (page) => pages.ckeys.raw(page), ekeys: (page) => pages.ekeys.raw(page) };
  const steps = encodeSortedEncoding({ ...content, ckeys, ekeys }, put);
  for (;;) {
    const step = steps.next();
    if (step.done !== true) continue;
    const { head, ekeyTable, ownEspec } = step.value;
    return concatBytes([head, pages.ckeys.written, ekeyTable, pages.ekeys.written, ownEspec]);
  }
}

/** As {@link encodeEncoding}, of sorted entries, which are in memory one at a time; each is a step. @throws as it does */
export function* encodeSortedEncoding(
  content: SortedEncodingContent,
  put: EncodingPages,
): Generator<void, EncodingParts> {
  const { especs } = content;
  const { ckeyPageSize = usualPageSize, ekeyPageSize = usualPageSize, flags = 0 } = content.layout ?? {};
  const ckeys = new RecordPages({ pageSize: ckeyPageSize, put: put.ckeys });
  for (const entry of content.ckeys) {
    ckeys.add(entry.ckey, ckeyRecord(entry));
    yield;
  }
  const ekeys = new RecordPages({ pageSize: ekeyPageSize, put: put.ekeys, end: ekeyEnd });
  for (const entry of content.ekeys) {
    ekeys.add(entry.ekey, ekeyRecord(entry, especs.length));
    yield;
  }
  const [ckeyTable, ekeyTable] = [ckeys.finish(), ekeys.finish()];
  const especBlock = encodeEspecs(especs);
  const header = new ByteWriter(encodingHeaderSize).text('EN').u8(1).u8(16).u8(16);
  header.u16(ckeyPageSize / 1024).u16(ekeyPageSize / 1024);
  header.u32(ckeys.count).u32(ekeys.count).u8(flags).u32(especBlock.length);
  const pageSizes = [ckeyTable.length, ckeys.count * ckeyPageSize, ekeyTable.length, ekeys.count * ekeyPageSize];
  const ownEspec = content.ownEspec ?? sectionsEspec([header.size, especBlock.length, ...pageSizes]);
  return {
    head: concatBytes([header.written, especBlock, ckeyTable]),
    ekeyTable,
    ownEspec: new TextEncoder().encode(ownEspec),
  };
}

/** @throws E_FORMAT_RANGE for one of another size, E_FORMAT for no hex */
function keyOf(hex: string): Uint8Array {
  const key = fromHex(hex);
  if (key.length !== keySize)
    throw formatError('E_FORMAT_RANGE', 'encoding file', `${JSON.stringify(hex)} is no key of ${keySize} bytes`);
  return key;
}

function sectionsEspec(sizes: readonly number[]): string {
  return `b:{${sizes.map((size, i) => `${size}=${i === 1 ? 'z' : 'n'}`).join(',')},*=z}`;
}

function encodeEspecs(especs: readonly string[]): Uint8Array {
  const writer = new ByteWriter();
  for (const espec of especs) writer.cstring(espec);
  return writer.bytes();
}

function ckeyRecord({
  ckey,
  size,
  ekeys,
}: {
  ckey: Uint8Array;
  size: number;
  ekeys: readonly Uint8Array[];
}): Uint8Array {
  if (ekeys.length === 0 || ekeys.length > maxKeyCount) {
    const facts = { expected: `1 to ${maxKeyCount}` };
    const problem = `content ${toHex(ckey)} has ${ekeys.length} encoding keys`;
    throw formatError('E_FORMAT_RANGE', 'encoding file', problem, facts);
  }
  const record = new ByteWriter(ckeyFixedSize + keySize * ekeys.length);
  record.u8(ekeys.length).u40(checkSize(size, ckey)).raw(ckey);
  for (const ekey of ekeys) record.raw(ekey);
  return record.written;
}

function ekeyRecord(
  { ekey, especIndex, size }: { ekey: Uint8Array; especIndex: number; size: number },
  especCount: number,
): Uint8Array {
  if (!(especIndex >= 0 && especIndex < especCount)) {
    const facts = { found: especIndex };
    throw formatError('E_FORMAT_RANGE', 'encoding file', `object ${toHex(ekey)} has an espec that is not there`, facts);
  }
  return new ByteWriter(ekeyRecordSize).raw(ekey).u32(especIndex).u40(checkSize(size, ekey)).written;
}

function checkSize(size: number, key: Uint8Array): number {
  if (size >= 0 && size < 2 ** 40) return size;
  const problem = `the size of ${toHex(key)} does not fit into 40 bits`;
  throw formatError('E_FORMAT_RANGE', 'encoding file', problem, { found: size });
}
