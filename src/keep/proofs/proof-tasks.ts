import * as fs from 'node:fs';
import { toHex } from '../../core/bytes.ts';
import { isPakratError, isSystemError } from '../../core/errors.ts';
import { readOwn } from '../../files/read-at.ts';
import type { ObjectName } from '../../store/layout.ts';
import type { Span } from '../../store/spans.ts';
import { type EntryBatch, entriesIn, type ListedEntries, type Proof } from '../../verify/entry-columns.ts';
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
export type EntriesTask = EntryBatch & {
  /** Whoever planned the work knows it by this. */
  number: number;
};

/** Hashes what is held of an object: entries of which something is held count. @returns undefined when anything is not as it should be: whoever planned the work looks again, and says what it is */
export function proveObject(task: ProofTask, buffer: HashBuffer): Promise<Proof | undefined> {
  const { file, spans, wholeSize } = task;
  return unlessUnreadable(async () => {
    if (wholeSize !== undefined && fs.statSync(file).size !== wholeSize) return undefined;
    const entries = entriesOf(task);
    if (unclaimable(spans, entries).length > 0) return undefined;
    return proofOf(file, entries, { spans, buffer });
  });
}

/** Hashes entries of a file. @returns undefined as {@link proveObject} */
export function proveEntriesOf(task: EntriesTask, buffer: HashBuffer): Promise<Proof | undefined> {
  const { file } = 'columns' in task ? task.columns : task.listed;
  return unlessUnreadable(async () => {
    // A pipe would wait for somebody to write to it.
    if (!fs.statSync(file).isFile()) return undefined;
    const entries =
      'columns' in task
        ? Array.from(entriesIn(task), (entry) => ({ ...entry, ekey: toHex(entry.ekey) }))
        : entriesOf({ ...task.listed, size: task.size });
    let end = 0;
    for (const { offset, size } of entries) end = Math.max(end, offset + size);
    return proofOf(file, entries, { spans: [{ start: 0, end }], buffer });
  });
}

async function proofOf(
  file: string,
  entries: Iterable<ArchiveEntry>,
  { spans, buffer }: { spans: readonly Span[]; buffer: HashBuffer },
): Promise<Proof | undefined> {
  const proof: Proof = { entries: 0, bytes: 0 };
  const checks = checkHeldEntries(() => file, entries, { spans, decrypt: (bytes) => bytes, buffer });
  for await (const { entries: count, bytes, damages } of checks) {
    if (damages.length > 0) return undefined;
    proof.entries += count;
    proof.bytes += bytes;
  }
  return proof;
}

async function unlessUnreadable(work: () => Promise<Proof | undefined>): Promise<Proof | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isPakratError(error) || isSystemError(error)) return undefined;
    throw error;
  }
}

function entriesOf({ name, index, size }: ListedEntries & { size: number }): Iterable<ArchiveEntry> {
  if (index === undefined) return [{ ekey: name.hash, offset: 0, size, raw: false }];
  return archiveEntries(readOwn(index), name);
}
