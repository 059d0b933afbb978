// The encoding file: from a content key to its encoded objects, and how each of those was encoded.
//
//   header 22 bytes
//     magic          "EN"
//     version        u8 = 1
//     ckeyBytes       u8 = 16
//     ekeyBytes       u8 = 16
//     ckeyPageKb     u16 = 4
//     ekeyPageKb     u16 = 4
//     ckeyPageCount  u32
//     ekeyPageCount  u32
//     flags          u8 = 0, unknown: kept, not used
//     especSize      u32
//   especs           NUL-terminated strings
//   ckey table       per page: first key [16], MD5 of the page [16]
//   ckey pages       entries of keyCount u8, decoded size u40, ckey [16], ekey [16] × keyCount; keyCount 0 ends a page
//   ekey table       as the ckey table
//   ekey pages       entries of ekey [16], espec index u32, encoded size u40; a zero key or index 0xffffffff ends a page
//   own espec        how this file itself is encoded, to the end of the file, no NUL
//
// The real header checked:
//   45 4e 01 10 10 00 04 00 04 00000006 00000004 00 00000036      6 ckey pages, 4 ekey pages, 54 bytes of especs
// Known from wowdev.wiki (TACT) and checked on real files of 2018 to 2026. Both sizes are 40 bits wide (some readers take 32,
// which holds until a file reaches 4 GiB), and a content of size 0 is an entry like any other.
//
// Retail has 150 MB of this, so pages can be read from disk one by one, and only entries asked for become objects.

import { asBuffer, compareBytes, fromHex, isAllZero, toHex, uintAt } from '../../../core/bytes.ts';
import { formatError, PakratError } from '../../../core/errors.ts';
import { ByteReader } from '../../../core/reader.ts';
import { RecordTable } from '../../../core/tables/record-table.ts';
import { checkMd5 } from '../../check-md5.ts';
import { type Format, startsWith } from '../../format.ts';

/** The parts of an encoding file; offsets and sizes in bytes. */
export interface EncodingLayout {
  readonly especOffset: number;
  readonly especSize: number;
  readonly ckeyTableOffset: number;
  readonly ckeyPagesOffset: number;
  readonly ckeyPageSize: number;
  readonly ckeyPageCount: number;
  readonly ekeyTableOffset: number;
  readonly ekeyPagesOffset: number;
  readonly ekeyPageSize: number;
  readonly ekeyPageCount: number;
  /** Offset of the file's own espec; the file is at least this long. */
  readonly ownEspecOffset: number;
  /** The byte of the header that nobody knows. */
  readonly flags: number;
}

/** A content and the objects it is encoded as. Keys are lower-case hex. */
export interface CkeyEntry {
  readonly ckey: string;
  /** Decoded size in bytes. */
  readonly size: number;
  /** One or more; any of them gives the content. */
  readonly ekeys: string[];
}

/** An encoded object. */
export interface EkeyEntry {
  readonly ekey: string;
  /** Place of its espec in the list of especs. */
  readonly especIndex: number;
  /** Encoded size in bytes. */
  readonly size: number;
}

/** A key as bytes or as hex; a prefix finds the first key that starts with it. */
export type KeyLike = Uint8Array | string;

const format = 'encoding file';

/** Told by its magic and version. */
export const encodingFormat: Format = { name: format, matches: startsWith('EN\x01') };

/** Bytes of the header, which is enough for {@link decodeEncodingHeader}. */
export const encodingHeaderSize = 22;
/** Bytes of a key in this format. */
const encodingKeyBytes = 16;
const tableStride = 32;
const ckeyFixedSize = 1 + 5 + encodingKeyBytes;
/** Bytes of a row of an ekey page. */
export const ekeyStride = encodingKeyBytes + 4 + 5;

/** Reads the header: the first 22 bytes of the file, or more. Throws E_FORMAT… when they are none. */
export function decodeEncodingHeader(bytes: Uint8Array): EncodingLayout {
  const reader = new ByteReader(bytes, format);
  reader.magic('EN');
  reader.version('u8', 1);
  if (reader.u8() !== encodingKeyBytes || reader.u8() !== encodingKeyBytes) {
    throw new PakratError('E_UNSUPPORTED', `${format}: keys of another size than ${encodingKeyBytes} bytes`);
  }
  const ckeyPageSize = reader.u16() * 1024;
  const ekeyPageSize = reader.u16() * 1024;
  if (ckeyPageSize === 0 || ekeyPageSize === 0)
    throw formatError('E_FORMAT_RANGE', format, 'pages of no size', { offset: 5 });
  const ckeyPageCount = reader.u32();
  const ekeyPageCount = reader.u32();
  const flags = reader.u8();
  return layOut({ ckeyPageSize, ekeyPageSize, ckeyPageCount, ekeyPageCount, flags, especSize: reader.u32() });
}

type HeaderFields = 'ckeyPageSize' | 'ekeyPageSize' | 'ckeyPageCount' | 'ekeyPageCount' | 'especSize' | 'flags';

function layOut(sizes: Pick<EncodingLayout, HeaderFields>): EncodingLayout {
  const especOffset = encodingHeaderSize;
  const ckeyTableOffset = especOffset + sizes.especSize;
  const ckeyPagesOffset = ckeyTableOffset + sizes.ckeyPageCount * tableStride;
  const ekeyTableOffset = ckeyPagesOffset + sizes.ckeyPageCount * sizes.ckeyPageSize;
  const ekeyPagesOffset = ekeyTableOffset + sizes.ekeyPageCount * tableStride;
  const ownEspecOffset = ekeyPagesOffset + sizes.ekeyPageCount * sizes.ekeyPageSize;
  return { ...sizes, especOffset, ckeyTableOffset, ckeyPagesOffset, ekeyTableOffset, ekeyPagesOffset, ownEspecOffset };
}

/** Reads the `especSize` bytes of especs from `especOffset`. Throws E_FORMAT_TRUNCATED when the last does not end. */
export function decodeEspecs(bytes: Uint8Array): string[] {
  const reader = new ByteReader(bytes, 'encoding especs');
  const especs: string[] = [];
  while (reader.remaining > 0) especs.push(reader.cstring());
  return especs;
}

/**
 * The table of a kind of pages: first key and MD5 of each.
 * @param bytes exactly the table: from `ckeyTableOffset` to `ckeyPagesOffset`, or the same of ekeys
 * @throws E_FORMAT_TRUNCATED when they are of another size
 */
export function pageTable(bytes: Uint8Array, layout: EncodingLayout, kind: 'ckey' | 'ekey'): RecordTable {
  const count = kind === 'ckey' ? layout.ckeyPageCount : layout.ekeyPageCount;
  if (bytes.length !== count * tableStride) {
    const facts = { expected: count * tableStride, found: bytes.length };
    throw formatError('E_FORMAT_TRUNCATED', `encoding ${kind} table`, 'not of the size that the header gives', facts);
  }
  return new RecordTable(bytes, tableStride, count);
}

/** Number of the page that holds a key if any does; undefined when the key is below the first. */
export function findPage(table: RecordTable, key: KeyLike): number | undefined {
  const bytes = keyOf(key);
  const row = table.lowerBound(bytes);
  if (row < table.count && compareBytes(table.at(row).subarray(0, bytes.length), bytes) === 0) return row;
  return row === 0 ? undefined : row - 1;
}

/** Checks a page against its row of the page table. @throws E_INTEGRITY when its MD5 differs */
export function verifyPage(page: Uint8Array, row: Uint8Array): void {
  const firstKey = toHex(row.subarray(0, encodingKeyBytes));
  checkMd5(page, row.subarray(encodingKeyBytes), `encoding page from ${firstKey}`);
}

function keyOf(key: KeyLike): Uint8Array {
  return typeof key === 'string' ? fromHex(key) : key;
}

/** Calls back with the offset of each entry of a ckey page, until the callback gives something. */
function scanCkeys<T>(page: Uint8Array, visit: (at: number) => T | undefined): T | undefined {
  for (let at = 0; at < page.length && page[at] !== 0; ) {
    const keyCount = page[at]!;
    const end = at + ckeyFixedSize + keyCount * encodingKeyBytes;
    if (end > page.length) {
      throw formatError('E_FORMAT_TRUNCATED', 'encoding ckey page', 'an entry runs over its end', { offset: at });
    }
    const result = visit(at);
    if (result !== undefined) return result;
    at = end;
  }
  return undefined;
}

function decodeCkeyEntry(page: Uint8Array, at: number): CkeyEntry {
  const reader = new ByteReader(page, 'encoding ckey page', at);
  const keyCount = reader.u8();
  const size = reader.u40();
  return { ckey: reader.key(), size, ekeys: Array.from({ length: keyCount }, () => reader.key()) };
}

/** Demands a whole page: in a part of one, entries that are missing would look absent. */
function checkWhole(page: Uint8Array, size: number): void {
  if (page.length === size) return;
  throw formatError('E_FORMAT_TRUNCATED', 'encoding page', 'not a whole page', { expected: size, found: page.length });
}

/** The entry of a content key, or undefined. Throws E_FORMAT_TRUNCATED for a page that is not whole or malformed. */
export function findCkeyInPage(page: Uint8Array, ckey: KeyLike, layout: EncodingLayout): CkeyEntry | undefined {
  checkWhole(page, layout.ckeyPageSize);
  const key = keyOf(ckey);
  return scanCkeys(page, (at) => {
    const found = page.subarray(at + 6, at + 6 + key.length);
    return compareBytes(found, key) === 0 ? decodeCkeyEntry(page, at) : undefined;
  });
}

/**
 * The entries of a ckey page, in key order; with `wants` those only whose first ekey it takes.
 * @throws E_FORMAT_TRUNCATED when the page is not whole or malformed
 */
export function ckeyEntries(
  page: Uint8Array,
  layout: EncodingLayout,
  wants?: (firstEkey: Uint8Array) => boolean,
): CkeyEntry[] {
  checkWhole(page, layout.ckeyPageSize);
  const entries: CkeyEntry[] = [];
  scanCkeys(page, (at) => {
    const ekey = at + ckeyFixedSize;
    if (wants === undefined || wants(page.subarray(ekey, ekey + encodingKeyBytes)))
      entries.push(decodeCkeyEntry(page, at));
    return undefined;
  });
  return entries;
}

/**
 * The used rows of an ekey page, as a table: ekey [16], espec index u32, encoded size u40.
 * @throws E_FORMAT_TRUNCATED when the page is not whole
 */
export function ekeyRecords(page: Uint8Array, layout: EncodingLayout): RecordTable {
  checkWhole(page, layout.ekeyPageSize);
  const whole = Math.floor(page.length / ekeyStride);
  let low = 0;
  let high = whole;
  // Used rows come first, so the first unused one is found by halving.
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isUnused(page.subarray(middle * ekeyStride, (middle + 1) * ekeyStride))) high = middle;
    else low = middle + 1;
  }
  return new RecordTable(page, ekeyStride, low);
}

function isUnused(row: Uint8Array): boolean {
  return (
    isAllZero(row.subarray(0, encodingKeyBytes)) ||
    row.subarray(encodingKeyBytes, encodingKeyBytes + 4).every((byte) => byte === 0xff)
  );
}

function decodeEkeyEntry(row: Uint8Array): EkeyEntry {
  const reader = new ByteReader(row, 'encoding ekey page');
  return { ekey: reader.key(), especIndex: reader.u32(), size: reader.u40() };
}

/** The encoded size in a row of {@link ekeyRecords} that lies at an offset of some bytes. */
export function ekeySize(bytes: Uint8Array, at = 0): number {
  return uintAt(bytes, at + encodingKeyBytes + 4, 5);
}

/** The entry of an encoded object, or undefined. Throws E_FORMAT_TRUNCATED when the page is not whole. */
export function findEkeyInPage(page: Uint8Array, ekey: KeyLike, layout: EncodingLayout): EkeyEntry | undefined {
  const row = ekeyRecords(page, layout).find(keyOf(ekey));
  return row === undefined ? undefined : decodeEkeyEntry(row);
}

/**
 * The entries of an ekey page, in key order; with `wants` those only whose espec it takes.
 * @throws E_FORMAT_TRUNCATED when the page is not whole
 */
export function ekeyEntries(
  page: Uint8Array,
  layout: EncodingLayout,
  wants?: (especIndex: number) => boolean,
): EkeyEntry[] {
  const entries: EkeyEntry[] = [];
  for (const row of ekeyRecords(page, layout)) {
    if (wants === undefined || wants(especIndexOf(row))) entries.push(decodeEkeyEntry(row));
  }
  return entries;
}

function especIndexOf(row: Uint8Array): number {
  return asBuffer(row).readUInt32BE(encodingKeyBytes);
}
