import { concatBytes, toHex } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import { md5 } from '../../core/hash.ts';
import { encodeIndexFooter, type IndexGeometry, type NamedIndex } from './index-layout.ts';

/** Offset of record `i`, in key order. Throws E_FORMAT_RANGE when there is none. */
export function entryOffset(i: number, layout: IndexGeometry): number {
  if (!(i >= 0 && i < layout.count)) {
    const facts = { expected: `below ${layout.count}` };
    throw formatError('E_FORMAT_RANGE', 'archive index', `there is no record ${i}`, facts);
  }
  const row = i % layout.entriesPerPage;
  return ((i - row) / layout.entriesPerPage) * layout.pageSize + row * layout.entrySize;
}

/** Fills in table and footer behind pages that are already written. */
export function sealIndex(bytes: Uint8Array, geometry: IndexGeometry): NamedIndex {
  const { count, pageCount, pageSize, keyBytes, hashBytes, tocOffset, tocSize, entriesPerPage } = geometry;
  const hashesOffset = tocOffset + pageCount * keyBytes;
  for (let i = 0; i < pageCount; i++) {
    const lastAt = entryOffset(Math.min(count, (i + 1) * entriesPerPage) - 1, geometry);
    bytes.copyWithin(tocOffset + i * keyBytes, lastAt, lastAt + keyBytes);
    const page = bytes.subarray(i * pageSize, (i + 1) * pageSize);
    bytes.set(md5(page).subarray(0, hashBytes), hashesOffset + i * hashBytes);
  }
  const tail = indexTail(bytes.subarray(tocOffset, tocOffset + tocSize), geometry);
  bytes.set(tail.bytes, tocOffset);
  return { bytes, name: tail.name };
}

/** What stands behind the pages of an index: its table and its footer; and the name that follows. */
export function indexTail(toc: Uint8Array, geometry: IndexGeometry): NamedIndex {
  const tocHash = md5(toc).subarray(0, geometry.hashBytes);
  const footer = encodeIndexFooter({ ...geometry, tocHash });
  return { bytes: concatBytes([toc, footer]), name: toHex(md5(footer)) };
}
