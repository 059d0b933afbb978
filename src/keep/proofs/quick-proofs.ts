import * as fs from 'node:fs';
import { fromHex } from '../../core/bytes.ts';
import { isPakratError, isSystemError } from '../../core/errors.ts';
import { openPlain, readInto, readOwn } from '../../files/read-at.ts';
import { decodeArchiveIndex } from '../../formats/indices/archive-index.ts';
import { entriesByOffset } from '../../formats/indices/rows-by-offset.ts';
import { heldUntil } from '../../store/spans.ts';
import { entriesIn, type ListedEntries, type Proof } from '../../verify/entry-columns.ts';
import type { EntryProver, EntryToProve, ObjectProof } from '../../verify/entry-prover.ts';
import type { EntriesTask, ProofTask } from './proof-tasks.ts';

/**
 * Hashes what is held of many objects, hashes of small ones beside each other. Says nothing (undefined) of an object that is not held as most are: entries
 * to their ends, and all in its index; and of entries that are not all right.
 */
export function quickProofs(tasks: readonly (ProofTask | EntriesTask)[], prover: EntryProver): (Proof | undefined)[] {
  const begun = tasks.map((task) => beginProof(task, prover));
  prover.flush();
  return begun.map((proof) => (proof === undefined || proof.object.isOpen ? undefined : proof.held));
}

function beginProof(
  task: ProofTask | EntriesTask,
  prover: EntryProver,
): { object: ObjectProof; held: Proof } | undefined {
  try {
    const held = heldBy(task);
    const { fd } = openPlain(held.file);
    try {
      return addEntries(held, { fd, prover });
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    if (isPakratError(error) || isSystemError(error)) return undefined;
    throw error;
  }
}

/** What a file is said to have. */
interface HeldFile extends Pick<ProofTask, 'file' | 'spans' | 'wholeSize'> {
  /** Bytes of its entries, where that is known. */
  size: number | undefined;
  /** In the order in which they lie; asked for when the file is open. */
  entries: () => Iterable<EntryToProve>;
}

function heldBy(task: ProofTask | EntriesTask): HeldFile {
  const { size } = task;
  if ('columns' in task) {
    // What lies between entries is read along.
    const { file, offsets, sizes } = task.columns;
    const end = (offsets.at(-1) ?? 0) + (sizes.at(-1) ?? 0);
    const spans = [{ start: offsets[0] ?? 0, end }];
    return { file, spans, wholeSize: undefined, size, entries: () => entriesIn(task) };
  }
  if ('listed' in task) {
    // Entries may leave some of the file out.
    const { listed } = task;
    const spans = [{ start: 0, end: size }];
    const entries = (): Iterable<EntryToProve> => entriesOf({ ...listed, size });
    return { file: listed.file, spans, wholeSize: undefined, size: undefined, entries };
  }
  const { file, spans, wholeSize } = task;
  return { file, spans, wholeSize, size, entries: () => entriesOf(task) };
}

function addEntries(
  { file, spans, wholeSize, size, entries }: HeldFile,
  { fd, prover }: { fd: number; prover: EntryProver },
): { object: ObjectProof; held: Proof } | undefined {
  const stat = fs.fstatSync(fd);
  if (!stat.isFile() || (wholeSize !== undefined && stat.size !== wholeSize)) return undefined;
  const read = (bytes: Uint8Array, offset: number): void => readInto(fd, bytes, { offset, what: file });
  const object = prover.open(read, spans.at(-1)?.end ?? 0);
  const held: Proof = { entries: 0, bytes: 0 };
  let proven = 0;
  for (const entry of entries()) {
    const end = heldUntil(spans, entry.offset);
    if (end === entry.offset) continue;
    // Bytes that two entries share would count twice.
    if (object.isOpen || entry.offset < proven || end < entry.offset + entry.size) return undefined;
    prover.add(entry, end);
    proven = entry.offset + entry.size;
    held.entries += 1;
    held.bytes += entry.size;
  }
  // What the ledger holds where no entry lies is no pakrat's claim.
  return size === undefined || held.bytes === size ? { object, held } : undefined;
}

/** In the order in which they lie. @throws E_FORMAT…, E_INTEGRITY for a damaged index */
function* entriesOf({ name, index, size }: ListedEntries & { size: number }): Generator<EntryToProve> {
  if (index === undefined) {
    yield { ekey: fromHex(name.hash), offset: 0, size, raw: false };
    return;
  }
  const raw = name.kind === 'patch';
  const entries = entriesByOffset(decodeArchiveIndex(readOwn(index), name.hash));
  for (const { ekey, offset, size: entrySize } of entries) yield { ekey, offset, size: entrySize, raw };
}
