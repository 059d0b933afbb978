// The last bytes of an archive index, from which all the rest is found.
//
//   tocHash      hashBytes   first bytes of the MD5 of the table before the footer
//   version      u8 = 1
//   flags        u16 = 0, unknown: kept, not used
//   pageKb       u8 = 4
//   offsetBytes  u8          0, 4, 5 or 6
//   sizeBytes    u8 = 4
//   keyBytes     u8 = 16
//   hashBytes    u8 = 8      up to 16 is possible
//   count        u32         little-endian; big-endian in builds before about 18200
//   footerHash   hashBytes   first bytes of the MD5 of version … count and as many zeros as this field is long
//
// The real index checked:
//   7afb73cf00cfa416 | 01 00 00 04 04 04 10 08 | 94 1b 00 00 | c2e814eb60ab8cf8   4 KiB pages, offset 4, size 4, key 16, hash 8; 7,060 records
// Known from wowdev.wiki (TACT) and checked on a real index. As the hash width is stored behind a field of that width, it
// is found by trying.

import { concatBytes, equalBytes, toHex } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import { md5 } from '../../core/hash.ts';
import { ByteReader } from '../../core/reader.ts';
import { ByteWriter } from '../../core/writer.ts';

/** Field widths, in bytes, and the page size that an index is written with. */
export interface IndexShape {
  readonly version: number;
  readonly flags: number;
  readonly pageSize: number;
  readonly offsetBytes: number;
  readonly sizeBytes: number;
  readonly keyBytes: number;
  readonly hashBytes: number;
  /** Whether the count is written as in the oldest builds. */
  readonly countIsBigEndian: boolean;
}

/** A shape, a count, and the places that follow from them; all in bytes from the start of the file. */
export interface IndexGeometry extends IndexShape {
  readonly count: number;
  readonly entrySize: number;
  readonly entriesPerPage: number;
  readonly pageCount: number;
  readonly tocOffset: number;
  readonly tocSize: number;
  readonly footerSize: number;
  readonly fileSize: number;
}

/** The fields of a footer, and the name that follows from them. */
export interface IndexLayout extends IndexGeometry {
  /** The first `hashBytes` of the MD5 of the table before the footer. */
  readonly tocHash: Uint8Array;
  /** MD5 of the footer, lower-case hex: the name of the index and of its archive. */
  readonly name: string;
}

/** An index as bytes, and the name that its footer gives it. */
export interface NamedIndex {
  readonly bytes: Uint8Array;
  readonly name: string;
}

const format = 'archive index footer';
const minHashBytes = 8;
const maxHashBytes = 16;
/** version … count */
const fixedSize = 12;

/** Bytes of a footer with hashes of this width: 28 for the usual 8. */
export function indexFooterSize(hashBytes = minHashBytes): number {
  return fixedSize + 2 * hashBytes;
}

/** Bytes from the end of an index file that hold its footer whatever its hash width. */
export const maxFooterSize = indexFooterSize(maxHashBytes);

const usualShape: IndexShape = {
  version: 1,
  flags: 0,
  pageSize: 4096,
  offsetBytes: 4,
  sizeBytes: 4,
  keyBytes: 16,
  hashBytes: 8,
  countIsBigEndian: false,
};

/** The places of everything in an index of `count` records; widths that are not given are the usual ones. */
export function indexGeometry(count: number, widths: Partial<IndexShape> = {}): IndexGeometry {
  // Field by field: to spread shapes takes ten times as long, and there are thousands of indices.
  const {
    version = usualShape.version,
    flags = usualShape.flags,
    pageSize = usualShape.pageSize,
    offsetBytes = usualShape.offsetBytes,
    sizeBytes = usualShape.sizeBytes,
    keyBytes = usualShape.keyBytes,
    hashBytes = usualShape.hashBytes,
    countIsBigEndian = usualShape.countIsBigEndian,
  } = widths;
  const entrySize = keyBytes + sizeBytes + offsetBytes;
  const entriesPerPage = Math.floor(pageSize / entrySize);
  const pageCount = Math.ceil(count / entriesPerPage);
  const tocOffset = pageCount * pageSize;
  const tocSize = pageCount * (keyBytes + hashBytes);
  const footerSize = indexFooterSize(hashBytes);
  return {
    version,
    flags,
    pageSize,
    offsetBytes,
    sizeBytes,
    keyBytes,
    hashBytes,
    countIsBigEndian,
    count,
    entrySize,
    entriesPerPage,
    pageCount,
    tocOffset,
    tocSize,
    footerSize,
    fileSize: tocOffset + tocSize + footerSize,
  };
}

/**
 * Reads the footer of an index.
 * @param tail the last bytes of the file: 28 mostly do, {@link maxFooterSize} always
 * @param fileSize size of the whole file; the count must agree with it
 * @throws E_FORMAT… when there is no footer, or one of another file
 */
export function decodeIndexFooter(tail: Uint8Array, fileSize: number): IndexLayout {
  // Mostly hashes have the fewest bytes.
  for (let hashBytes = minHashBytes; hashBytes <= maxHashBytes; hashBytes++) {
    const footerSize = indexFooterSize(hashBytes);
    if (footerSize > tail.length) continue;
    const footer = tail.subarray(tail.length - footerSize);
    if (equalBytes(footerHash(footer, hashBytes), footer.subarray(footerSize - hashBytes))) {
      return decodeFields(footer, hashBytes, fileSize);
    }
  }
  const facts = { offset: fileSize - tail.length };
  throw formatError('E_FORMAT_CHECKSUM', format, `the last ${tail.length} bytes are no footer`, facts);
}

function footerHash(footer: Uint8Array, hashBytes: number): Uint8Array {
  const fixed = footer.subarray(hashBytes, hashBytes + fixedSize);
  return md5(concatBytes([fixed, new Uint8Array(hashBytes)])).subarray(0, hashBytes);
}

function decodeFields(footer: Uint8Array, hashBytes: number, fileSize: number): IndexLayout {
  const reader = new ByteReader(footer, format, hashBytes);
  const version = reader.version('u8', 1);
  const flags = reader.u16();
  const [pageKb = 0, offsetBytes = 0, sizeBytes = 0, keyBytes = 0, width = 0] = reader.take(5);
  const widthsFit = pageKb > 0 && offsetBytes <= 6 && sizeBytes > 0 && sizeBytes <= 6 && keyBytes > 0 && keyBytes <= 16;
  if (!widthsFit || width !== hashBytes) {
    const facts = { found: toHex(footer.subarray(hashBytes, -hashBytes)) };
    throw formatError('E_FORMAT_RANGE', format, 'impossible field widths', facts);
  }
  const shape = { version, flags, pageSize: pageKb * 1024, offsetBytes, sizeBytes, keyBytes, hashBytes };
  const count = new DataView(footer.buffer, footer.byteOffset + reader.pos, 4);
  // Only one reading of the count can account for the size of the file.
  let geometry = indexGeometry(count.getUint32(0, true), shape);
  if (geometry.fileSize !== fileSize)
    geometry = indexGeometry(count.getUint32(0), { ...shape, countIsBigEndian: true });
  if (geometry.fileSize !== fileSize) {
    const facts = { found: toHex(footer.subarray(reader.pos, reader.pos + 4)) };
    throw formatError('E_FORMAT_TRUNCATED', format, `its record count does not fit a file of ${fileSize} bytes`, facts);
  }
  return { ...geometry, tocHash: footer.slice(0, hashBytes), name: toHex(md5(footer)) };
}

/** Writes a footer. */
export function encodeIndexFooter(layout: IndexGeometry & Pick<IndexLayout, 'tocHash'>): Uint8Array {
  const { tocHash, version, flags, pageSize, offsetBytes, sizeBytes, keyBytes, hashBytes } = layout;
  const writer = new ByteWriter(layout.footerSize).raw(tocHash).u8(version).u16(flags);
  for (const field of [pageSize / 1024, offsetBytes, sizeBytes, keyBytes, hashBytes]) writer.u8(field);
  if (layout.countIsBigEndian) writer.u32(layout.count);
  else writer.u32le(layout.count);
  return writer.raw(footerHash(writer.bytes(), hashBytes)).bytes();
}
