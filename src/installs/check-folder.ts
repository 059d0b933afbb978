import { dirname, relative, sep } from 'node:path';
import { breathe } from '../core/breathe.ts';
import { isPakratError, messageOf, PakratError } from '../core/errors.ts';
import type { WorkOptions } from '../core/progress.ts';
import { readable, readOwn, sizeOfFile, withReads } from '../files/read-at.ts';
import type { OnUnread } from '../files/walk.ts';
import { checkArchiveIndex } from '../formats/indices/archive-index.ts';
import { type CheckedEntry, checkEntries, type EntryToCheck } from '../verify/check-entries.ts';
import { checkObject } from '../verify/check-object.ts';
import type { EntryBatch, ProveEntries } from '../verify/entry-columns.ts';
import type { HashBuffer } from '../verify/hash-buffer.ts';
import { problemRows, type VerifyResult } from '../verify/verify-result.ts';
import { hashFiles } from './read-file.ts';

/** A checked part of a folder, and the first thing that is wrong with it. */
export interface CheckedObject {
  name: string;
  bytes: number;
  /** Entries that it is of. Default: one. */
  entries?: number;
  problem?: { code: string; message: string } | undefined;
}

/** An entry of a folder, with how its bytes are read: offsets count from its start. Errors of ours from `read` are its problem. */
export interface FolderEntry extends EntryToCheck {
  name: string;
  read: (offset: number, size: number) => Uint8Array;
}

/** The ways to check a folder. */
export interface CheckOptions {
  signal?: AbortSignal | undefined;
  /** Proves what is right many entries at a time; absent where that does not pay. */
  prove?: ProveEntries | undefined;
}

/** Entries of one file, and the check that tells what is wrong with them. */
export type FolderBatch = EntryBatch & {
  name: string;
  check: () => AsyncIterable<CheckedObject> | Iterable<CheckedObject>;
};

/** Checks batches of entries: what is not proven, one by one, in the order of the batches. @throws E_ABORTED */
export async function* checkBatches(
  batches: Iterable<FolderBatch>,
  prove: ProveEntries,
): AsyncGenerator<CheckedObject> {
  const left: (FolderBatch & { number: number })[] = [];
  const numbered = function* (): Generator<FolderBatch & { number: number }> {
    let number = 0;
    for (const batch of batches) yield { ...batch, number: number++ };
  };
  for await (const { batch, proof } of prove(numbered())) {
    if (proof === undefined) left.push(batch);
    else yield { name: batch.name, ...proof };
  }
  for (const { check } of left.sort((a, b) => a.number - b.number)) yield* check();
}

/** The largest index, config or patch of its own that is believed. */
const maxWhole = 256 << 20;

/** The signal that ends a check, and a buffer for whoever checks many files one after the other. */
export interface EntryWork {
  signal: AbortSignal | undefined;
  buffer?: HashBuffer | undefined;
}

/** Checks entries of a folder, many at a time. @param also a check of its own for entries whose bytes are right @throws E_ABORTED */
export async function* checkFolderEntries<Entry extends FolderEntry>(
  entries: Iterable<Entry>,
  { also, ...work }: EntryWork & { also?: (entry: Entry) => string | undefined },
): AsyncGenerator<CheckedObject> {
  const checks = checkEntries(entries, (entry, offset, size) => entry.read(offset, size), work);
  for await (const batch of checks) {
    for (const checked of batch)
      yield { name: checked.entry.name, bytes: checked.entry.size, problem: problemOf(checked, also) };
  }
}

function problemOf<Entry extends FolderEntry>(
  { entry, problem }: CheckedEntry<Entry>,
  also: ((entry: Entry) => string | undefined) | undefined,
): CheckedObject['problem'] {
  const message = problem === undefined ? also?.(entry) : undefined;
  return message === undefined ? problem : { code: 'E_INTEGRITY', message };
}

/** Checks the configs below a folder: each has the MD5 that is its name. */
export function* checkConfigs(folder: string): Generator<CheckedObject> {
  const unread: CheckedObject[] = [];
  for (const { name, file } of hashFiles(folder, unreadFolders(dirname(folder), unread)))
    yield checkWhole(`config/${name}`, { kind: 'config', name, file });
  yield* unread;
}

/** For {@link hashFiles}: what lies in a folder of which a broken disk does not give the names is not looked at, and that is a row. @param rows take their paths below `root` */
export function unreadFolders(root: string, rows: CheckedObject[]): OnUnread {
  return (path, error) => {
    const name = relative(root, path).replaceAll(sep, '/');
    const problem = { code: 'E_STORE', message: `it cannot be read: ${messageOf(error)}` };
    rows.push({ name, bytes: 0, entries: 0, problem });
  };
}

/** Checks a small object by reading all of it. @param object `name` is the name of its file: a hash, `.index` behind that of an index */
export function checkWhole(
  name: string,
  object: { kind: 'config' | 'data' | 'patch'; name: string; file: string },
): CheckedObject {
  const size = sizeOfFile(object.file) ?? 0;
  return checkedBy(name, size, () => {
    if (size > maxWhole) throw new PakratError('E_FORMAT_RANGE', `${size} bytes are too many for it`);
    const [hash = '', suffix] = object.name.split('.');
    const { kind, file } = object;
    if (suffix !== undefined) withReads(file, (read) => checkArchiveIndex({ size, read }, hash));
    else checkObject({ kind, hash }, readOwn(file));
  });
}

/** Runs a check; an error of ours is the problem, any other goes on. */
export function checkedBy(name: string, bytes: number, check: () => void): CheckedObject {
  try {
    readable(name, check);
    return { name, bytes };
  } catch (error) {
    if (!isPakratError(error)) throw error;
    return { name, bytes, problem: { code: error.code, message: error.message } };
  }
}

/** Adds up the checks of a folder. @param total bytes that will be looked at @throws E_ABORTED */
export async function collectChecks(
  objects: AsyncIterable<CheckedObject> | Iterable<CheckedObject>,
  total: number,
  { signal, onProgress }: WorkOptions,
): Promise<VerifyResult> {
  const result: VerifyResult = { checked: { entries: 0, bytes: 0 }, bad: [], repaired: 0 };
  const { checked } = result;
  const problems = problemRows(result.bad);
  for await (const { name, bytes, entries = 1, problem } of objects) {
    await breathe(signal);
    checked.entries += entries;
    checked.bytes += bytes;
    if (problem !== undefined) problems.add({ name, ...problem });
    onProgress?.({ type: 'bytes', phase: 'verify', done: checked.bytes, total });
  }
  return result;
}
