/*
 * The checksum that each file has since version 14. In the game's own packs of version 18 it is the MD5 of the file's
 * slot: IV, content and padding as stored. Other packs have been seen with the MD5 of the content. Which it is, a
 * pack's own files tell.
 */
import { equalBytes } from '../../../core/bytes.ts';
import { isPakratError } from '../../../core/errors.ts';
import { md5Hasher } from '../../../core/hash.ts';
import type { FileRecord } from '../directory/directory.ts';
import {
  type EntryContext,
  isEncrypted,
  mayBeCounted,
  readStraight,
  storedSize,
  usedChecksum,
} from '../entries/entry-reader.ts';
import { PlainRegion } from '../entries/plain-region.ts';

/** The bytes that the checksums of a pack are over; `unknown` when no sample shows it, and then they say nothing. */
export type ChecksumKind = 'slot' | 'content' | 'unknown';

const sampleCount = 8;
const maxSampleBytes = 1 << 20;

/** Finds out what the checksums of a pack are over, from some of its small files. */
export async function checksumKind(context: EntryContext, files: readonly FileRecord[]): Promise<ChecksumKind> {
  const samples = files
    .filter((file) => usedChecksum(file) !== undefined && file.size > 0 && file.size <= maxSampleBytes)
    // Without a key, those that need none tell more.
    .sort((a, b) => (context.key === undefined ? Number(isEncrypted(a)) - Number(isEncrypted(b)) : 0))
    .slice(0, sampleCount);
  for (const file of samples) {
    if (await slotMatches(context, file)) return 'slot';
    if (await hashIs(usedChecksum(file), readStraight(context, file))) return 'content';
  }
  return 'unknown';
}

/** True when the checksum of a file is that of its stored bytes. */
export function slotMatches(context: EntryContext, file: FileRecord): Promise<boolean> {
  const offset = context.dataOffset + file.offset;
  const size = file.slotSize || storedSize(file, context.version);
  return hashIs(usedChecksum(file), new PlainRegion(context.source, { offset, size }).pieces());
}

/** True for a seekable file in counter mode; a checksum over its content in the usual mode says that it is in none. */
export async function isCounted(context: EntryContext, file: FileRecord): Promise<boolean> {
  if (!mayBeCounted(context, file)) return false;
  const checksum = usedChecksum(file);
  return checksum === undefined || !(await hashIs(checksum, readStraight(context, file)));
}

/** True when the MD5 of some pieces is the one given; false when they cannot be read. */
async function hashIs(expected: Uint8Array | undefined, pieces: AsyncIterable<Uint8Array>): Promise<boolean> {
  const hasher = md5Hasher();
  try {
    for await (const piece of pieces) hasher.update(piece);
  } catch (error) {
    if (isPakratError(error)) return false;
    throw error;
  }
  return expected !== undefined && equalBytes(hasher.digest(), expected);
}
