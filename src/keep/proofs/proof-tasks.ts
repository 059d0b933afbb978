import * as fs from 'node:fs';
import { toHex } from '../../core/bytes.ts';
import { isPakratError, isSystemError } from '../../core/errors.ts';
import { readAt } from '../../files/read-at.ts';
import type { ObjectName } from '../../store/layout.ts';
import type { Span } from '../../store/spans.ts';
import { checkEntries } from '../../verify/check-entries.ts';
import { type EntryBatch, entriesIn } from '../../verify/entry-columns.ts';
import type { HashBuffer } from '../../verify/hash-buffer.ts';
import { type ArchiveEntry, archiveEntries, checkHeldEntries, unclaimable } from '../store-checks.ts';

/** An object of which what is held is to be proven right. Plain data, for it travels. */
export interface ProofTask {
  /** Its path in the store. */
  path: string;
  name: ObjectName;
  file: string;
  /** The file of its index; undefined for a loose object, which is one entry. */
  index: string | undefined;
  /** Size of one that is held whole. */
  wholeSize: number | undefined;
  /** What the ledger holds of it, merged and in order. */
  spans: readonly Span[];
  /** Bytes of these. */
  size: number;
}

/** Entries of a file that are to be proven right, all of them. Plain data, too. */
export interface EntriesTask extends EntryBatch {
  /** Whoever planned the work knows it by this. */
  number: number;
}

/** What was proven of an object: the entries of which something is held, and their bytes that are. */
export interface Proof {
  entries: number;
  bytes: number;
}

/** Hashes what is held of an object. @returns undefined when anything is not as it should be: whoever planned the work looks again, and says what it is */
export async function proveObject(task: ProofTask, buffer: HashBuffer): Promise<Proof | undefined> {
  const { file, spans, wholeSize } = task;
  const proof: Proof = { entries: 0, bytes: 0 };
  try {
    if (wholeSize !== undefined && fs.statSync(file).size !== wholeSize) return undefined;
    const entries = entriesOf(task);
    if (unclaimable(spans, entries).length > 0) return undefined;
    const checks = checkHeldEntries(() => file, entries, { spans, decrypt: (bytes) => bytes, buffer });
    for await (const { entries: count, bytes, damages } of checks) {
      if (damages.length > 0) return undefined;
      proof.entries += count;
      proof.bytes += bytes;
    }
    return proof;
  } catch (error) {
    if (isPakratError(error) || isSystemError(error)) return undefined;
    throw error;
  }
}

/** Hashes entries of a file. @returns undefined when any of them is not right, as {@link proveObject} */
export async function proveColumns(task: EntriesTask, buffer: HashBuffer): Promise<Proof | undefined> {
  const { file, offsets } = task.columns;
  try {
    const fd = fs.openSync(file, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
    try {
      if (!fs.fstatSync(fd).isFile()) return undefined;
      const entries = Array.from(entriesIn(task), (entry) => ({ ...entry, ekey: toHex(entry.ekey) }));
      const read = (entry: ArchiveEntry, offset: number, size: number): Uint8Array =>
        readAt(fd, entry.offset + offset, size, file);
      for await (const batch of checkEntries(entries, read, { buffer }))
        if (batch.some(({ problem }) => problem !== undefined)) return undefined;
      return { entries: offsets.length, bytes: task.bytes };
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    if (isPakratError(error) || isSystemError(error)) return undefined;
    throw error;
  }
}

function entriesOf({ name, index, size }: ProofTask): ArchiveEntry[] {
  if (index === undefined) return [{ ekey: name.hash, offset: 0, size, raw: false }];
  return archiveEntries(new Uint8Array(fs.readFileSync(index)), name);
}
