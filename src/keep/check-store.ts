import * as fs from 'node:fs';
import {
  isDiskBroken,
  isFileLost,
  isNoFile,
  isOurTrouble,
  isPakratError,
  isSystemError,
  PakratError,
} from '../core/errors.ts';
import { formatBytes, plural } from '../core/quantities.ts';
import { readOwn, sizeOfFile, withReads } from '../files/read-at.ts';
import { checkArchiveIndex } from '../formats/indices/archive-index.ts';
import { mergeSpans, type Span, spanBytes, touches } from '../store/spans.ts';
import type { Store } from '../store/store.ts';
import { checkObject } from '../verify/check-object.ts';
import { HashBuffer } from '../verify/hash-buffer.ts';
import type { UncheckedObject, VerifyProblem } from '../verify/verify-result.ts';
import { checkDerived } from './check-derived.ts';
import type { Damage } from './damage.ts';
import type { KnownObject } from './known-objects.ts';
import { proofTask } from './proofs/plan-proof.ts';
import { type ProofPool, type ProofThreads, proveObjects, startProofs } from './proofs/prove-objects.ts';
import {
  type ArchiveEntry,
  checkHeldEntries,
  type DamagedEntry,
  type EntryCheck,
  indexedEntries,
  noFile,
  uncheckedArchive,
  unclaimable,
  unreadable,
} from './store-checks.ts';

/** The outcome for one thing that was looked at. */
export interface Finding {
  /** Bytes that were checked; undefined for what is no object that was read. */
  bytes?: number;
  /** The entries that they are of. Default: one. */
  entries?: number;
  problem?: VerifyProblem | undefined;
  /** It could not be read, so that nothing is known of its bytes: it stays as it is. */
  unread?: boolean;
  /** The damage that can be taken out of the store, and mended. */
  damage?: Damage | undefined;
  /** Entries of an archive that are wrong, each of which is a problem and damage. */
  damaged?: { object: KnownObject; entries: readonly DamagedEntry[] } | undefined;
  /** An archive that cannot be checked. */
  unchecked?: UncheckedObject | undefined;
}

/** The parts of a store that are to be checked. */
export interface StoreCheck {
  store: Store;
  objects: readonly KnownObject[];
  /** Paths of rows of the ledger that name no object. */
  strays: readonly string[];
  /** Look at derived files, too, which belong to no build alone. */
  derived: boolean;
  /** An object that the disk does not give is not taken for damaged: another time the disk may give it, and no host might. */
  keepsUnread: boolean;
  /** Bytes that are held of the objects: so much is there for threads. Default: none, and threads only where they are asked for. */
  heldBytes?: number | undefined;
  /** Threads to hash in. */
  use?: ProofThreads | undefined;
  signal?: AbortSignal | undefined;
}

/** Checks parts of a store, step by step. Nothing is changed; to stop asking stops the check. */
export function checkStore(check: StoreCheck): AsyncGenerator<Finding> {
  return claimedStill(check.store, allFindings(check));
}

/** Findings but for what the ledger does not claim any more: it was given back meanwhile. */
async function* claimedStill({ ledger }: Store, findings: AsyncIterable<Finding>): AsyncGenerator<Finding> {
  for await (const finding of findings) {
    const { damage, damaged, unchecked } = finding;
    if (unchecked !== undefined && ledger.spans(unchecked.name).length === 0) continue;
    if (damage?.kind === 'object' && ledger.completeSize(damage.object.path) === undefined) continue;
    yield damaged === undefined ? finding : { ...finding, damaged: claimedOf(ledger, damaged) };
  }
}

/** Those damaged entries that the ledger claims; undefined for none. */
function claimedOf(ledger: Store['ledger'], { object, entries }: NonNullable<Finding['damaged']>): Finding['damaged'] {
  const end = entries.reduce((last, entry) => Math.max(last, entry.end), 0);
  const claimed = mergeSpans(ledger.spansWithin(object.path, entries[0]?.offset ?? 0, end));
  const left = entries.filter((entry) => touches(claimed, entry.start, entry.end));
  return left.length === 0 ? undefined : { object, entries: left };
}

/** Configs and indices come first, for they say what the others are. */
async function* allFindings(check: StoreCheck): AsyncGenerator<Finding> {
  const bytes = check.heldBytes ?? 0;
  const objects = check.objects.filter(({ form }) => form === 'archive' || form === 'loose').length;
  const started = startProofs({ bytes, objects }, check.use ?? {});
  try {
    yield* findingsWith(started, check);
  } finally {
    // Interrupted, some may be at work that is for nothing.
    await (check.signal?.aborted ? started?.kill() : started?.end());
  }
}

async function* findingsWith(started: ProofPool | undefined, check: StoreCheck): AsyncGenerator<Finding> {
  yield* checkKeys(check);
  const open = { ...check, objects: check.objects.filter(({ path }) => lockedBy(check.store, path) === undefined) };
  yield* checkRows(open);
  yield* checkSmall(open);
  const left = yield* checkInThreads(started, open);
  const buffer = bufferOnce();
  yield* checkArchives(left, buffer);
  yield* checkLoose(left, buffer);
  yield* checkAllDerived(check);
}

/** To make a buffer takes a while, and mostly threads leave nothing for one. */
function bufferOnce(): () => HashBuffer {
  let buffer: HashBuffer | undefined;
  return () => {
    buffer ??= new HashBuffer();
    return buffer;
  };
}

/** Hashes in threads what is as it should be, where that pays. @returns what is left to be looked at here */
async function* checkInThreads(started: ProofPool | undefined, check: StoreCheck): AsyncGenerator<Finding, StoreCheck> {
  if (started === undefined) return check;
  const proven = new Set<string>();
  const tasks = check.objects.flatMap((object) => proofTask(check.store, object) ?? []);
  for await (const { path, ...proof } of proveObjects(tasks, { started, signal: check.signal })) {
    proven.add(path);
    yield proof;
  }
  return { ...check, objects: check.objects.filter(({ path }) => !proven.has(path)) };
}

/** Checks the archives alone, for those whose index was not there the first time. */
export function checkArchivesAgain(check: StoreCheck): AsyncGenerator<Finding> {
  return claimedStill(check.store, checkArchives(check, bufferOnce()));
}

/** The error of an object that cannot be looked into for want of its key; undefined for others. */
function lockedBy(store: Store, path: string): PakratError | undefined {
  try {
    store.objectKeys.keyOf(path);
    return undefined;
  } catch (error) {
    if (!isPakratError(error) || error.code !== 'E_KEY_MISSING') throw error;
    return error;
  }
}

/** Without the key of its objects nothing of a CDN path can be checked, and nothing is known to be damaged. */
function* checkKeys({ store, objects }: StoreCheck): Generator<Finding> {
  const told = new Set<string>();
  for (const { path, name } of objects) {
    const locked = lockedBy(store, path);
    if (locked === undefined || told.has(name.cdnPath)) continue;
    told.add(name.cdnPath);
    yield { problem: { name: name.cdnPath, code: locked.code, message: locked.message } };
  }
}

/** Rows that no pakrat wrote, and rows whose path names nothing that a store has. */
function* checkRows({ store, strays }: StoreCheck): Generator<Finding> {
  const { ledger } = store;
  const impossible = ledger.impossibleRows();
  if (impossible > 0) {
    if (store.writable) ledger.removeImpossibleRows();
    yield claimFinding('ledger.db', `${plural(impossible, 'row', 'rows')} of objects and spans cannot be`);
  }
  for (const path of strays) yield claimFinding(path, 'a row of the ledger that names no object');
}

/** A claim of the ledger that is wrong as such. @param spans those that it is about; undefined for the whole row */
function claimFinding(path: string, message: string, spans?: readonly Span[]): Finding {
  const damage: Damage = spans === undefined ? { kind: 'row', path } : { kind: 'spans', path, spans };
  return { problem: { name: path, code: 'E_INTEGRITY', message }, damage };
}

async function* checkSmall({ store, objects, keepsUnread }: StoreCheck): AsyncGenerator<Finding> {
  for (const object of objects) {
    const { path, name, form, size, complete } = object;
    if (!complete || (form !== 'small' && form !== 'patch')) continue;
    const isPlainIndex = name.suffix === '.index' && store.objectKeys.keyOf(path) === undefined;
    yield checkWhole(object, { bytes: size, keepsUnread }, () => {
      if (isPlainIndex) {
        checkIndex(store.file(path), size, name.hash);
        return;
      }
      const bytes = readOwn(store.file(path));
      if (bytes.length !== size) throw wrongSize(size);
      checkObject(name, store.objectKeys.decrypt(path, bytes));
    });
  }
}

/** That of a group of archives may have a hundred megabytes, and is not read at once. */
function checkIndex(file: string, size: number, hash: string): void {
  withReads(file, (read, fd) => {
    const found = fs.fstatSync(fd);
    // What lies there and is no file cannot be read, which tells.
    if (found.isFile() && found.size !== size) throw wrongSize(size);
    checkArchiveIndex({ size, read }, hash);
  });
}

const nothing: Span = { start: 0, end: 0 };

function wrongSize(size: number): PakratError {
  return new PakratError('E_INTEGRITY', `it has not ${size} bytes any more`);
}

/** Runs a check of a whole object. What may not be read may be right: it is told, and passed over. */
async function checkWhole(
  object: KnownObject,
  { bytes, keepsUnread }: { bytes: number; keepsUnread: boolean },
  check: () => Promise<void> | void,
): Promise<Finding> {
  try {
    await check();
    return { bytes };
  } catch (error) {
    const { path } = object;
    const isLost = keepsUnread ? isNoFile(error) : isFileLost(error);
    if (isSystemError(error) && !isLost) return { problem: unreadable(path, error), unread: true };
    if (!isLost && isOurTrouble(error)) throw error;
    const { code, message } = faultOf(path, error);
    const damage: Damage = { kind: 'object', object, isUnread: isDiskBroken(error) };
    return { bytes, problem: { name: path, code, message }, damage };
  }
}

/** What is wrong with an object of which nothing is right. */
function faultOf(path: string, error: unknown): Pick<VerifyProblem, 'code' | 'message'> {
  if (isNoFile(error)) return noFile(error);
  return isFileLost(error) ? unreadable(path, error) : (error as PakratError);
}

async function* checkArchives(
  { store, objects, keepsUnread, signal }: StoreCheck,
  buffer: () => HashBuffer,
): AsyncGenerator<Finding> {
  for (const object of objects) {
    if (object.form !== 'archive') continue;
    const claimed = store.ledger.spans(object.path);
    const spans = mergeSpans(claimed);
    const entries = indexedEntries(store, object.name);
    if (entries === undefined) {
      if (spans.length === 0) continue;
      if (fs.existsSync(store.file(object.path))) yield { unchecked: uncheckedArchive(store, object.path, spans) };
      else if (isClaimed(store, object)) yield claimFinding(object.path, 'its file is gone');
      continue;
    }
    yield* checkClaims(object.path, { claimed, spans, entries });
    try {
      yield* checkLength(store, object);
      const isGone = keepsUnread ? isNoFile : isFileLost;
      yield* checkArchive(store, object, { spans, entries, isGone, buffer: buffer(), signal });
    } catch (error) {
      if (!isSystemError(error)) throw error;
      if (isClaimed(store, object)) yield { problem: unreadable(object.path, error), unread: true };
    }
  }
}

/** True unless all of an object was given back since it was listed. */
function isClaimed({ ledger }: Store, { path }: KnownObject): boolean {
  return ledger.spans(path).length > 0;
}

/** A web server would serve what stands behind the end of a whole archive. To withdraw nothing of it moves it out, and to move it in cuts that off. */
function* checkLength(store: Store, { path, size, complete }: KnownObject): Generator<Finding> {
  const found = complete ? sizeOfFile(store.file(path)) : undefined;
  // One of which something was given back meanwhile is not whole, and its file may be shorter.
  if (found !== undefined && found !== size && store.ledger.completeSize(path) === size)
    yield claimFinding(path, wrongSize(size).message, [nothing]);
}

/** Spans lie one behind the other, and in entries. */
function* checkClaims(
  path: string,
  { claimed, spans, entries }: { claimed: readonly Span[]; spans: readonly Span[]; entries: Iterable<ArchiveEntry> },
): Generator<Finding> {
  const excess = unclaimable(spans, entries);
  if (excess.length > 0) {
    yield claimFinding(path, `${formatBytes(spanBytes(excess))} of it that no entry lies in were called held`, excess);
  } else if (spans.length !== claimed.length) {
    // To take nothing out of them puts them in order.
    yield claimFinding(path, 'its spans overlapped', [nothing]);
  }
}

async function* checkArchive(
  store: Store,
  object: KnownObject,
  { entries, ...rest }: Omit<EntryCheck, 'decrypt'> & { entries: Iterable<ArchiveEntry> },
): AsyncGenerator<Finding> {
  const { path } = object;
  const checked = checkHeldEntries(() => store.file(path), entries, { ...rest, decrypt: decrypter(store, path) });
  for await (const { damages, ...batch } of checked)
    yield { ...batch, damaged: damages.length === 0 ? undefined : { object, entries: damages } };
}

/** What an object is encrypted with is found out once. */
function decrypter({ objectKeys }: Store, path: string): (bytes: Uint8Array, offset: number) => Uint8Array {
  if (objectKeys.keyOf(path) === undefined) return (bytes) => bytes;
  return (bytes, offset) => objectKeys.decrypt(path, bytes, offset);
}

function checkAllDerived({ store, derived, signal }: StoreCheck): AsyncIterable<Finding> | Finding[] {
  return derived ? checkDerived(store, signal) : [];
}

/** A loose object is one entry. One that is not whole yet is checked when the next sync goes on with it. */
async function* checkLoose(
  { store, objects, keepsUnread, signal }: StoreCheck,
  buffer: () => HashBuffer,
): AsyncGenerator<Finding> {
  for (const object of objects) {
    const { path, name, form, size, complete, lost } = object;
    if (lost || (form !== 'loose' && form !== 'patch')) continue;
    if (!complete) {
      if (!fs.existsSync(store.file(path))) yield { damage: { kind: 'row', path } };
      continue;
    }
    if (form === 'patch') continue;
    yield checkWhole(object, { bytes: size, keepsUnread }, async () => {
      const file = store.file(path);
      if (fs.statSync(file).size !== size) throw wrongSize(size);
      const entry: ArchiveEntry = { ekey: name.hash, offset: 0, size, raw: false };
      const check = { spans: [{ start: 0, end: size }], decrypt: decrypter(store, path), buffer: buffer(), signal };
      const damageOf = async (): Promise<DamagedEntry | undefined> => {
        for await (const { damages } of checkHeldEntries(() => file, [entry], check)) return damages[0];
        return undefined;
      };
      let damage = await damageOf();
      // A disk that did not give it may give it now.
      if (isSystemError(damage?.cause)) damage = await damageOf();
      if (isSystemError(damage?.cause)) throw damage?.cause;
      if (damage !== undefined) throw new PakratError('E_INTEGRITY', damage.message);
    });
  }
}
