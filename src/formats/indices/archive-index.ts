// Archive indices: which encoded objects an archive holds, and where. Also archive groups, file and patch indices.
//
//   pages        pageSize bytes each (4096): records sorted by key, as many whole ones as fit, then zeros
//     record       key[16]  size u32 BE  offset BE: 4 bytes in an archive's index, none in a file index,
//                  6 in a group (archive number u16, offset u32), 5 possible
//   table        last key of every page, then a hash of every page (the first bytes of its MD5)
//   footer       see index-layout.ts
//
// The file is named by the MD5 of its footer, so footer, table and pages are chained to the name. The archive itself has
// the same name and no hash of its own. Known from wowdev.wiki (TACT) and checked on a real index of 7,060 records.

import { digestSize } from '../../codecs/md5-lanes/index.ts';
import { uintAt } from '../../core/bytes.ts';
import { formatError, PakratError } from '../../core/errors.ts';
import { sortRecords } from '../../core/sorting/sort-records.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import { ByteWriter } from '../../core/writer.ts';
import { checkMd5 } from '../check-md5.ts';
import { canBeRead, type Format } from '../format.ts';
import {
  decodeIndexFooter,
  type IndexGeometry,
  type IndexLayout,
  type IndexShape,
  indexGeometry,
  maxFooterSize,
  type NamedIndex,
} from './index-layout.ts';
import { pageHashes } from './page-hashes.ts';
import { entryOffset, sealIndex } from './seal-index.ts';

/** Told by its last bytes: the footer of an index of just this size. */
export const archiveIndexFormat: Format = {
  name: 'archive index',
  needsAll: true,
  matches: canBeRead((bytes) => decodeIndexFooter(bytes.subarray(-maxFooterSize), bytes.length)),
};

/** One record of an index. */
export interface IndexEntry {
  /** A view of the key; copy it to keep it longer than the index. */
  readonly ekey: Uint8Array;
  /** Encoded size in bytes. */
  readonly size: number;
  /** Offset in its archive; 0 in a file index. */
  readonly offset: number;
  /** In a group, the place of its archive in the CDN config; else 0. */
  readonly archive: number;
}

/** The table between pages and footer: row `i` of each belongs to page `i`. */
export interface IndexToc {
  readonly lastKeys: RecordTable;
  readonly pageHashes: RecordTable;
}

/** A whole index in memory, what {@link encodeArchiveIndex} takes: a table over its bytes, with nothing made until asked for. */
export class ArchiveIndex {
  readonly bytes: Uint8Array;
  readonly layout: IndexLayout;
  readonly toc: IndexToc;

  constructor(bytes: Uint8Array, layout: IndexLayout, toc: IndexToc) {
    this.bytes = bytes;
    this.layout = layout;
    this.toc = toc;
  }

  /** The name that the footer gives: lower-case hex. */
  get name(): string {
    return this.layout.name;
  }
  /** Number of records. */
  get count(): number {
    return this.layout.count;
  }

  /** Record `i`, in key order. */
  entry(i: number): IndexEntry {
    return decodeEntry(this.bytes, entryOffset(i, this.layout), this.layout);
  }
  /** The key of record `i`, as a view. */
  keyAt(i: number): Uint8Array {
    const at = entryOffset(i, this.layout);
    return this.bytes.subarray(at, at + this.layout.keyBytes);
  }
  /** The end of the last entry in the archive, in bytes: an archive that is shorter is not whole. 0 where there are no entries. */
  get dataEnd(): number {
    let end = 0;
    for (const { offset, size } of this) end = Math.max(end, offset + size);
    return end;
  }
  /** The first record whose key starts with `key` (16 bytes, or a prefix such as 9), or undefined. */
  find(key: Uint8Array): IndexEntry | undefined {
    const page = this.toc.lastKeys.lowerBound(key);
    return page === this.layout.pageCount ? undefined : findInPage(this.#page(page), key, this.layout);
  }
  /** Every record, in key order. */
  *[Symbol.iterator](): Generator<IndexEntry> {
    for (let i = 0; i < this.count; i++) yield this.entry(i);
  }

  #page(number: number): Uint8Array {
    return this.bytes.subarray(number * this.layout.pageSize, (number + 1) * this.layout.pageSize);
  }
}

/**
 * Reads a whole index and checks all of it: footer, table, every page.
 * @param name the name it was asked for by, hex
 * @throws E_FORMAT… when it is no index, E_INTEGRITY when a hash differs or it is the index of another archive
 */
export function decodeArchiveIndex(bytes: Uint8Array, name?: string): ArchiveIndex {
  const { layout, toc } = decodeEnd({ size: bytes.length, read: (at, size) => bytes.subarray(at, at + size) }, name);
  checkPages(bytes, 0, toc, layout);
  return new ArchiveIndex(bytes, layout, toc);
}

/** An index that is read in pieces. */
interface IndexPieces {
  size: number;
  read(at: number, size: number): Uint8Array;
}

/** Pages that are read together. */
const pagesAtOnce = 256;

/** Checks all of an index as {@link decodeArchiveIndex} does, piece by piece: that of a group of archives may have hundreds of MB. @throws as that, and as reading does */
export function checkArchiveIndex(index: IndexPieces, name: string): void {
  const { layout, toc } = decodeEnd(index, name);
  const { pageCount, pageSize } = layout;
  for (let first = 0; first < pageCount; first += pagesAtOnce) {
    const count = Math.min(pagesAtOnce, pageCount - first);
    checkPages(index.read(first * pageSize, count * pageSize), first, toc, layout);
  }
}

/** What lies behind the pages. */
function decodeEnd({ size, read }: IndexPieces, name: string | undefined): { layout: IndexLayout; toc: IndexToc } {
  const footerSize = Math.min(size, maxFooterSize);
  const layout = decodeIndexFooter(read(size - footerSize, footerSize), size);
  if (name !== undefined && name.toLowerCase() !== layout.name) {
    throw new PakratError('E_INTEGRITY', `archive index ${name}: its footer belongs to ${layout.name}`, {
      data: { key: name, expected: name, found: layout.name },
    });
  }
  return { layout, toc: decodeIndexToc(read(layout.tocOffset, layout.tocSize), layout) };
}

/** Checks the pages that some bytes begin with, from a number on. @throws E_INTEGRITY */
function checkPages(bytes: Uint8Array, first: number, { pageHashes: expected }: IndexToc, layout: IndexLayout): void {
  const { name, pageCount, pageSize, hashBytes } = layout;
  const count = Math.min(pageCount - first, Math.floor(bytes.length / pageSize));
  const found = pageHashes(bytes.subarray(0, count * pageSize), pageSize);
  for (let i = 0; i < count; i++) {
    const page = first + i;
    let same = 0;
    while (same < hashBytes && found[i * digestSize + same] === expected.bytes[page * hashBytes + same]) same += 1;
    if (same === hashBytes) continue;
    checkMd5(bytes.subarray(i * pageSize, (i + 1) * pageSize), expected.at(page), `archive index ${name} page ${page}`);
  }
}

/**
 * Reads the table of last keys and page hashes.
 * @param tocBytes `tocSize` bytes from `tocOffset`
 * @throws E_INTEGRITY when they do not match the footer's hash
 */
export function decodeIndexToc(tocBytes: Uint8Array, layout: IndexLayout): IndexToc {
  const { pageCount, keyBytes, hashBytes } = layout;
  checkMd5(tocBytes, layout.tocHash, `archive index ${layout.name} table`);
  return {
    lastKeys: new RecordTable(tocBytes, keyBytes, pageCount),
    pageHashes: new RecordTable(tocBytes.subarray(pageCount * keyBytes), hashBytes, pageCount),
  };
}

/** The first record of a page whose key starts with `key` (16 bytes, or a prefix such as 9), or undefined. */
export function findInPage(page: Uint8Array, key: Uint8Array, layout: IndexGeometry): IndexEntry | undefined {
  const records = new RecordTable(page, layout.entrySize, countInPage(page, layout));
  const row = records.indexOf(key);
  return row === -1 ? undefined : decodeEntry(page, row * layout.entrySize, layout);
}

/** The first `count` records of a page; a full page has `entriesPerPage`, the last one what remains of `count`. */
export function pageEntries(page: Uint8Array, layout: IndexGeometry, count = countInPage(page, layout)): IndexEntry[] {
  const records = new RecordTable(page, layout.entrySize, count);
  return Array.from({ length: records.count }, (_, row) => decodeEntry(page, row * layout.entrySize, layout));
}

/** Records of a page when its number is not known: only the last page has records of zeros, behind all others. */
function countInPage(page: Uint8Array, layout: IndexGeometry): number {
  const whole = Math.min(layout.entriesPerPage, Math.floor(page.length / layout.entrySize));
  let used = whole * layout.entrySize;
  while (used > 0 && page[used - 1] === 0) used--;
  return Math.ceil(used / layout.entrySize);
}

function decodeEntry(bytes: Uint8Array, at: number, layout: IndexShape): IndexEntry {
  const sizeAt = at + layout.keyBytes;
  const offsetAt = sizeAt + layout.sizeBytes;
  const archiveBytes = layout.offsetBytes === 6 ? 2 : 0;
  return {
    ekey: bytes.subarray(at, sizeAt),
    size: uintAt(bytes, sizeAt, layout.sizeBytes),
    offset: uintAt(bytes, offsetAt + archiveBytes, layout.offsetBytes - archiveBytes),
    archive: uintAt(bytes, offsetAt, archiveBytes),
  };
}

/** The entries of an index to write, and widths other than the usual ones: an {@link ArchiveIndex}, or a list. */
export interface IndexContent extends Iterable<IndexEntry> {
  readonly layout?: Partial<IndexShape>;
}

/**
 * Writes an index; the entries may come in any order, equal keys keep theirs.
 * @param shape widths other than those of the entries' own layout: `offsetBytes` is 4 for an archive (default), 0 for loose files, 6 for a group
 * @throws E_FORMAT_RANGE when a key, size, offset or archive number does not fit
 */
export function encodeArchiveIndex(entries: IndexContent, shape: Partial<IndexShape> = {}): NamedIndex {
  const records = new ByteWriter();
  let count = 0;
  const widths = indexGeometry(0, { ...entries.layout, ...shape });
  const { entrySize, keyBytes } = widths;
  for (const entry of entries) {
    encodeEntry(records, entry, widths);
    count += 1;
  }
  const sorted = sortRecords(records.written, entrySize, keyBytes);
  const geometry = indexGeometry(count, widths);
  const { fileSize, pageSize, entriesPerPage } = geometry;
  const bytes = new Uint8Array(fileSize);
  const inPage = entriesPerPage * entrySize;
  for (let at = 0, page = 0; at < sorted.length; at += inPage, page += pageSize)
    bytes.set(sorted.subarray(at, at + inPage), page);
  return sealIndex(bytes, geometry);
}

function encodeEntry(records: ByteWriter, entry: IndexEntry, shape: IndexShape): void {
  const { keyBytes, sizeBytes, offsetBytes } = shape;
  if (entry.ekey.length !== keyBytes) {
    const facts = { expected: keyBytes, found: entry.ekey.length };
    throw formatError('E_FORMAT_RANGE', 'archive index', 'a key of the wrong size', facts);
  }
  const archiveBytes = offsetBytes === 6 ? 2 : 0;
  records.raw(entry.ekey);
  putUint(records, sizeBytes, entry.size);
  putUint(records, archiveBytes, entry.archive);
  putUint(records, offsetBytes - archiveBytes, entry.offset);
}

function putUint(records: ByteWriter, size: number, value: number): void {
  if (!(value >= 0 && value < 0x100 ** size)) {
    throw formatError('E_FORMAT_RANGE', 'archive index', `${value} does not fit into ${size} bytes`);
  }
  records.uint(value, size);
}
