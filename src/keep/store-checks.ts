import * as fs from 'node:fs';
import { toHex } from '../core/bytes.ts';
import { codeOf, isDamage, isNoFile, isSystemError, messageOf, PakratError, resultUnless } from '../core/errors.ts';
import { formatBytes, plural } from '../core/quantities.ts';
import { repeatable } from '../core/reader.ts';
import { openPlain, ReadAhead } from '../files/read-at.ts';
import { decodeArchiveIndex } from '../formats/indices/archive-index.ts';
import { entriesByOffset, rowsByOffset } from '../formats/indices/rows-by-offset.ts';
import type { ObjectName } from '../store/layout.ts';
import { heldUntil, type Span, spanBytes, subtractSpans } from '../store/spans.ts';
import type { Store } from '../store/store.ts';
import { batchesInOrder } from '../threads/batches.ts';
import { type CheckedEntry, checkEntries } from '../verify/check-entries.ts';
import type { HashBuffer } from '../verify/hash-buffer.ts';
import type { UncheckedObject, VerifyProblem } from '../verify/verify-result.ts';

/** An entry of an object, as its index lists it. */
export interface ArchiveEntry {
  /** Hex. */
  ekey: string;
  offset: number;
  size: number;
  /** A patch: no BLTE, its key is the MD5 of its bytes. */
  raw: boolean;
}

/** The fault of an entry: its bytes from `start` to `end` in the object are not those that they should be. */
export interface DamagedEntry extends ArchiveEntry {
  start: number;
  end: number;
  code: string;
  message: string;
  /** The error of the system, where they could not be read. */
  cause?: unknown;
}

/**
 * The entries of an archive, by its index, in the order in which they lie in it. Each is made when it is come to: there may be two millions.
 * @throws E_FORMAT…, E_INTEGRITY, at once
 */
export function archiveEntries(
  indexBytes: Uint8Array,
  name: Pick<ObjectName, 'kind' | 'hash'>,
): Iterable<ArchiveEntry> {
  const index = decodeArchiveIndex(indexBytes, name.hash);
  const rows = rowsByOffset(index);
  const raw = name.kind === 'patch';
  return repeatable(function* () {
    for (const { ekey, offset, size } of entriesByOffset(index, rows)) yield { ekey: toHex(ekey), offset, size, raw };
  });
}

/** The entries of an archive of a store; undefined when its index is not there, or not to be read or damaged, which is a finding of its own. */
export function indexedEntries(store: Store, name: ObjectName): Iterable<ArchiveEntry> | undefined {
  const isUnreadable = (error: unknown): boolean => isDamage(error) || codeOf(error) === 'E_STORE';
  return resultUnless(isUnreadable, () => {
    const index = store.readObject({ ...name, suffix: '.index' });
    return index && archiveEntries(index, name);
  });
}

/** What the ledger holds of an archive where no entry lies: only entries are ever held, so it is no pakrat's claim. */
export function unclaimable(spans: readonly Span[], entries: Iterable<ArchiveEntry>): Span[] {
  return subtractSpans(spans, covered(entries));
}

/** What entries cover that come in the order of their offsets: mostly they lie one behind the other. */
function covered(entries: Iterable<ArchiveEntry>): Span[] {
  const runs: Span[] = [];
  for (const { offset, size } of entries) {
    const last = runs.at(-1);
    if (last !== undefined && offset <= last.end) last.end = Math.max(last.end, offset + size);
    else runs.push({ start: offset, end: offset + size });
  }
  return runs;
}

/** What is known of an object whose entries are checked. */
export interface EntryCheck {
  /** The spans that the ledger holds of it, merged and in order. */
  spans: readonly Span[];
  /** For bytes of an object that may be encrypted as a whole, and their offset in it. */
  decrypt: (bytes: Uint8Array, offset: number) => Uint8Array;
  /** Errors of the system after which nothing of the object is there. Default: none lies there. Others end the check. */
  isGone?: (error: unknown) => boolean;
  buffer?: HashBuffer;
  signal?: AbortSignal | undefined;
}

/** Entries that were checked together: how many, the bytes of them that are held, and what is wrong, in their order. */
export interface CheckedEntries {
  entries: number;
  bytes: number;
  damages: DamagedEntry[];
}

/**
 * Checks those entries of an object of which something is held.
 * @param find its file, which may move
 */
export async function* checkHeldEntries(
  find: () => string,
  entries: Iterable<ArchiveEntry>,
  { spans, decrypt, isGone = isNoFile, buffer, signal }: EntryCheck,
): AsyncGenerator<CheckedEntries> {
  const fd = openUnlessGone(find, isGone);
  if (typeof fd === 'string') {
    yield* goneEntries(heldEntries(entries, spans), fd);
    return;
  }
  const ahead = new ReadAhead(fd, spans.at(-1)?.end ?? 0);
  const read = ({ ekey, offset }: ArchiveEntry, from: number, size: number): Uint8Array =>
    decrypt(readHeld(ahead, { ekey, offset: offset + from, size }), offset + from);
  try {
    for await (const batch of checkEntries(heldEntries(entries, spans), read, { buffer, signal })) yield sumOf(batch);
  } finally {
    fs.closeSync(fd);
  }
}

/** Entries that are told together. */
const goneAtOnce = { tasks: 1024, bytes: Number.POSITIVE_INFINITY };

/** What is to be said of entries whose file is not there. */
function* goneEntries(entries: Iterable<HeldEntry>, message: string): Generator<CheckedEntries> {
  const problem = { code: 'E_INTEGRITY', message };
  for (const batch of batchesInOrder(entries, goneAtOnce))
    yield sumOf(batch.map((entry) => ({ entry, right: 0, problem })));
}

type HeldEntry = ArchiveEntry & { held: number };

function sumOf(batch: readonly CheckedEntry<HeldEntry>[]): CheckedEntries {
  const bytes = batch.reduce((sum, { entry }) => sum + entry.held, 0);
  return { entries: batch.length, bytes, damages: batch.flatMap(damageOf) };
}

/** None of one that is right. */
function damageOf({ entry, right, problem }: CheckedEntry<HeldEntry>): DamagedEntry[] {
  if (problem === undefined) return [];
  const { held, ...rest } = entry;
  return [{ ...rest, start: entry.offset + right, end: entry.offset + held, ...problem }];
}

/** Bytes that a broken disk does not give back are no different from wrong ones. */
function readHeld(
  ahead: ReadAhead,
  { ekey, offset, size }: { ekey: string; offset: number; size: number },
): Uint8Array {
  try {
    return ahead.read(offset, size, `entry ${ekey}`);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new PakratError('E_INTEGRITY', `entry ${ekey}: it cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

function* heldEntries(entries: Iterable<ArchiveEntry>, spans: readonly Span[]): Generator<HeldEntry> {
  for (const { ekey, offset, size, raw } of entries) {
    const held = Math.min(heldUntil(spans, offset) - offset, size);
    if (held > 0) yield { ekey, offset, size, raw, held };
  }
}

/** Opens a file, which may move meanwhile; what is to be said where that fails as `isGone` tells. @throws other errors of the system as they come */
function openUnlessGone(find: () => string, isGone: (error: unknown) => boolean): number | string {
  const file = find();
  try {
    return openPlain(file).fd;
  } catch (error) {
    if (!isGone(error)) throw error;
    if (find() !== file) return openUnlessGone(find, isGone);
    return isNoFile(error) ? 'its file is gone' : unreadable(file, error).message;
  }
}

/** The problem of an object that is not there. */
export function noFile(error: unknown): PakratError {
  const problem = codeOf(error) === 'EISDIR' ? 'what lies where its file belongs is none' : 'its file is gone';
  return new PakratError('E_INTEGRITY', problem);
}

/** The problem of an object that the system does not let be read: nothing is known of its bytes. */
export function unreadable(path: string, error: unknown): VerifyProblem {
  return { name: path, code: 'E_STORE', message: `it cannot be read: ${messageOf(error)}` };
}

/** An archive whose index is not there, or not to be read: nothing tells what lies in it. */
export function uncheckedArchive({ ledger }: Store, path: string, spans: readonly Span[]): UncheckedObject {
  const bytes = spanBytes(spans);
  const what = `${plural(spans.length, 'span', 'spans')} (${formatBytes(bytes)})`;
  const why = ledger.completeSize(`${path}.index`) === undefined ? 'is not held' : 'cannot be read';
  return { name: path, bytes, message: `${what} could not be checked: its index ${why}` };
}
