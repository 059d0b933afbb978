import { createHash } from 'node:crypto';
import { equalBytes, isAllZero } from '../../../core/bytes.ts';
import { PakratError } from '../../../core/errors.ts';
import { isSha1 } from '../../../core/hash.ts';
import { pieceSize } from '../../../files/pieces.ts';
import type { Scratch } from '../../../files/scratch.ts';
import { expectSha1 } from './entry-hash.ts';
import { blockRanges, type EntryRecord, firstRecord, isRecordAt, sha1Of } from './entry-record.ts';
import type { EntryAccess } from './read-entry.ts';

const sha1Size = 20;

/** An entry that is to be checked. */
export type CheckedEntry = Pick<EntryAccess, 'source' | 'format' | 'record' | 'row'>;

/**
 * Checks the record in front of an entry's data against the index, and the stored bytes against their SHA-1. No key is
 * needed: the hash is over the bytes as they lie in the file.
 * @returns false when there is no SHA-1 to check against; at once for a small entry, for there are millions
 * @throws E_INTEGRITY with what differs, E_FORMAT… when the record cannot be read
 */
export function verifyEntry(entry: CheckedEntry, scratch: Scratch): Promise<boolean> | boolean {
  const { source, record } = entry;
  const { offset, headerSize, storedSize } = record;
  // The record and a small entry come with one read.
  const size = Math.min(headerSize + storedSize, Math.max(pieceSize, headerSize));
  const first = scratch.read(source, offset, size);
  return first instanceof Promise
    ? first.then((bytes) => verifyStored(entry, bytes, scratch))
    : verifyStored(entry, first, scratch);
}

/**
 * As {@link verifyEntry}, of a small entry, and without waiting.
 * @returns true where it is right by its SHA-1; false where that is to be looked at in the other way, whatever the reason @throws as that
 */
export function isRightNow(entry: CheckedEntry, scratch: Scratch): boolean {
  const { offset, headerSize, storedSize } = entry.record;
  const bytes = scratch.readNow(entry.source, offset, headerSize + storedSize);
  if (bytes === undefined) return false;
  const expected = checkRecord(entry, bytes);
  return !isAllZero(expected) && isSha1(bytes.subarray(headerSize), expected);
}

/** @param first bytes of the entry, its record in front */
function verifyStored(entry: CheckedEntry, first: Uint8Array, scratch: Scratch): Promise<boolean> | boolean {
  const { headerSize, storedSize } = entry.record;
  const expected = checkRecord(entry, first);
  if (isAllZero(expected)) return storedSize === 0;
  const isWhole = first.length === headerSize + storedSize;
  if (isWhole && isSha1(first.subarray(headerSize), expected)) return true;
  const kept = expected.slice();
  return hashOfMany(entry, first, scratch).then((found) => {
    expectSha1(found, kept, entry.row.name);
    return true;
  });
}

/**
 * Checks the record in front of an entry's data against the index.
 * @param bytes that start with the record
 * @returns the SHA-1 of the stored bytes, good as long as `bytes` are: zeros, which say nothing, when there is none
 * @throws E_INTEGRITY with what differs, E_FORMAT… when the record cannot be read
 */
export function checkRecord(entry: CheckedEntry, bytes: Uint8Array): Uint8Array {
  const { record } = entry;
  const isSame = isRecordAt(bytes, record);
  const header = isSame ? record : readHeader(entry, bytes);
  if (!isSame) checkSame(header, entry);
  return sha1Of(record) ?? hashIn(header);
}

function readHeader({ format, row }: CheckedEntry, bytes: Uint8Array): EntryRecord {
  try {
    return firstRecord(bytes, format, 'record');
  } catch {
    // A name costs more than a record, and is needed for an error alone.
    return firstRecord(bytes, format, `record in front of ${row.name}`);
  }
}

/** Reads the record in front of an entry's data and checks it. Returns and throws as {@link checkRecord}. */
export async function readCheckedRecord(entry: CheckedEntry): Promise<Uint8Array> {
  const { source, record } = entry;
  return checkRecord(entry, await source.read(record.offset, record.headerSize));
}

/** SHA-1 of the stored bytes of a large entry, the first of which are read already. */
async function hashOfMany(
  { source, record: { offset, headerSize, storedSize } }: CheckedEntry,
  first: Uint8Array,
  scratch: Scratch,
): Promise<Uint8Array> {
  const hash = createHash('sha1').update(first.subarray(headerSize));
  const total = headerSize + storedSize;
  for (let at = first.length; at < total; at += pieceSize) {
    hash.update(await scratch.read(source, offset + at, Math.min(pieceSize, total - at)));
  }
  return hash.digest();
}

function checkSame(header: EntryRecord, { record, format, row }: CheckedEntry): void {
  for (const field of ['storedSize', 'size', 'method', 'encrypted', 'headerSize'] as const) {
    if (header[field] !== record[field]) throw differs(row.name, field, `${header[field]} instead of ${record[field]}`);
  }
  const known = sha1Of(record);
  if (known !== undefined && !equalBytes(hashIn(header), known)) throw differs(row.name, 'sha1', 'other bytes');
  if (record.blockCount > 1 && header.blockSize !== record.blockSize) {
    throw differs(row.name, 'blockSize', `${header.blockSize} instead of ${record.blockSize}`);
  }
  if (record.method === 0) return;
  // Blocks of the header may be counted from the entry's offset, which the header itself does not know.
  const own = blockRanges({ ...header, offset: record.offset }, format);
  for (const { start, end } of blockRanges(record, format)) {
    const block = own.next().value;
    if (block?.start !== start || block.end !== end) throw differs(row.name, 'blocks', `one is not at ${start}`);
  }
}

/** The SHA-1 of a record that stands in front of data: zeros, which say nothing, when it has none. */
function hashIn(header: EntryRecord): Uint8Array {
  return sha1Of(header) ?? new Uint8Array(sha1Size);
}

function differs(name: string, field: string, problem: string): PakratError {
  return new PakratError('E_INTEGRITY', `${name}: the record in front of its data differs from the index`, {
    hint: `${field}: ${problem}`,
    data: { name, field },
  });
}
