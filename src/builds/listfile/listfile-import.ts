import * as fs from 'node:fs';
import { join } from 'node:path';
import { breathe } from '../../core/breathe.ts';
import { u32At } from '../../core/bytes.ts';
import { formatError, PakratError, resultUnless, valueUnless } from '../../core/errors.ts';
import { IdSet } from '../../core/tables/id-set.ts';
import { makeFolderDurable } from '../../files/durable.ts';
import { type BadLine, ListfileScanner } from '../../formats/roots/listfile.ts';
import type { ListfileRow, ListfileRows } from '../../formats/roots/listfile-rows.ts';
import { sharedPlace } from '../../store/clear-way.ts';
import { isLacking, readDerived, removeDerived } from '../../store/derived/derived-file.ts';
import { writeDerived } from '../../store/derived/derived-writer.ts';
import type { LookupFile } from '../../store/derived/lookup-file.ts';
import type { LookupFolders } from '../../store/layout.ts';
import { lockStore } from '../../store/ledger/sqlite.ts';
import type { ThreadUse } from '../../threads/thread-pool.ts';
import { compareNames, keepUnnamed } from './compare-lists.ts';
import { damagedList, ListfileIndex } from './listfile-index.ts';
import {
  type ListfileVersion,
  listfileBase,
  listfilePaths,
  listfilePointer,
  listfileVersion,
  noBase,
} from './listfile-paths.ts';
import { ListfileWriter } from './write/listfile-writer.ts';

/** Smaller lists may shrink as they like. */
const fewNames = 1000;

/** The changes that a list made. */
export interface ListfileChange {
  /** Rows that were read. */
  rows: number;
  /** Different ids that have a name now. */
  ids: number;
  /** Ids, and names without an id, that were not known. */
  added: number;
  /** Ids that have another name now. */
  changed: number;
  /** Ids whose names came with the last update from the same URL, and are in the list no more. */
  removed: number;
  /** The names that were there before were damaged: those that are not in this list are gone. */
  damaged?: true;
  /** Lines that were no rows, and the first of them. */
  bad?: BadLines;
}

/** Lines that were passed over. */
export interface BadLines {
  lines: number;
  first: BadLine[];
}

/** What interrupts an import, and the threads that it may use. */
export interface ListfileOptions extends ThreadUse {
  signal?: AbortSignal | undefined;
  /** Called when the list is read: to sort its names and write them takes longer. */
  onStep?: ((step: string) => void) | undefined;
}

/** Lines that are gone through before the clock is looked at. */
const linesPerTurn = 4096;

/** Bad lines that are told one by one at most. */
const fewBad = 3;

/**
 * Adds the names of a list to those imported before; a newer name of an id stands in for the older. Memory does not grow with the list.
 * A line that is no row is passed over and told.
 * @throws E_FORMAT when there are no names in it, or fewer than bad lines, E_STORE_LOCKED while another process does the same
 */
export async function importListfile(
  folders: LookupFolders,
  chunks: AsyncIterable<Uint8Array>,
  options: ListfileOptions = {},
): Promise<ListfileChange> {
  const release = lockListfile(folders);
  try {
    return await replaceListfile(folders, chunks, options);
  } finally {
    release();
  }
}

/** Keeps other processes from changing the names. Gives back the release. @throws E_STORE_LOCKED */
export function lockListfile(folders: LookupFolders): () => void {
  makeFolderDurable(folders.names);
  const lock = sharedPlace(join(folders.names, 'listfile.lock'), folders.temporary);
  return lockStore(lock, 'changing the names of this store');
}

/**
 * As {@link importListfile}, by the holder of the lock. With a `url` the list is the new version of what came from there: names that the
 * last version had, and this one has not, go. Nothing changes unless all of the list is good.
 * @throws E_FORMAT when it is empty or no list, E_INTEGRITY when more than half of the names of the last version are gone
 */
export async function replaceListfile(
  folders: LookupFolders,
  chunks: AsyncIterable<Uint8Array>,
  { url, signal, onStep, ...threads }: ListfileOptions & { url?: string | undefined },
): Promise<ListfileChange> {
  const old = await openOld(folders);
  const writer = new ListfileWriter(folders, threads);
  try {
    const bad: BadLines = { lines: 0, first: [] };
    for await (const rows of readListfile(chunks, bad)) {
      if (writer.rows === 0 && rows.count > 0 && url !== undefined) checkFirst(rows.at(0));
      writer.addRows(rows);
      await breathe(signal);
    }
    const { rows } = writer;
    if (rows === 0) throw noNames(bad);
    onStep?.('sorting names');
    const listed = writer.ids.copy();
    const isNext = url !== undefined && url === old.version?.url;
    const added = await keepOlder(writer, old, { listed, isNext, signal });
    const updated = url === undefined ? without(old.updated, listed) : listed;
    const base = `listfile-${Date.now().toString(36)}-${process.pid}`;
    const version: ListfileVersion = { base, url: url ?? old.version?.url, sorted: true };
    // Else files of the first version, where not all of them come to be, would be taken for it.
    if (old.version === undefined) writePointer(folders, { base: noBase });
    const change = await finish(folders, writer, { old, version, updated, signal });
    if (isNext && change.removed > fewNames && change.removed * 2 > old.updated.size)
      throw shrunk(folders, version, change);
    useVersion(folders, version);
    const damaged = old.version !== undefined && old.index === undefined;
    // Of a piece those without an id come last.
    bad.first.sort((a, b) => a.line - b.line);
    return { rows, ...change, added: change.added + added, ...(damaged && { damaged }), ...(bad.lines > 0 && { bad }) };
  } finally {
    await writer.close();
    old.index?.close();
  }
}

/** The version in use, as a new one is made. */
interface OldVersion {
  version: ListfileVersion | undefined;
  /** Undefined where there is none, or its text is damaged. */
  index: ListfileIndex | undefined;
  /** Ids whose names came with the last update. */
  updated: IdSet;
}

async function openOld(folders: LookupFolders): Promise<OldVersion> {
  const version = listfileVersion(folders);
  const index = version && (await openWhole(folders));
  const file = version && index && listfilePaths(folders, version.base).updated;
  const updated = file ? resultUnless(isLacking, () => IdSet.from(readDerived(file))) : undefined;
  return { version, index, updated: updated ?? new IdSet() };
}

/** The imported names, all of them checked; undefined when there are none, or their text is damaged. Needs `close`. @throws E_STORE… */
export async function openWhole(folders: LookupFolders): Promise<ListfileIndex | undefined> {
  return valueUnless(
    (error) => damagedList(error) !== undefined,
    // What is made again of the text is whole the second time.
    openChecked(folders).catch((error: unknown) => {
      if (!isLacking(error)) throw error;
      return openChecked(folders);
    }),
  );
}

async function openChecked(folders: LookupFolders): Promise<ListfileIndex | undefined> {
  const index = await ListfileIndex.open(folders);
  try {
    await index?.checkAll();
    return index;
  } catch (error) {
    index?.close();
    throw error;
  }
}

/** @param bad gets the lines that are no rows */
async function* readListfile(chunks: AsyncIterable<Uint8Array>, bad: BadLines): AsyncGenerator<ListfileRows> {
  const scanner = new ListfileScanner((line) => {
    bad.lines += 1;
    if (bad.first.length < fewBad) bad.first.push(line);
  });
  let count = 0;
  for await (const chunk of chunks) {
    for (const rows of scanner.pushBytes(chunk)) {
      count += rows.count;
      yield rows;
    }
    checkBad(bad, count);
  }
  yield* scanner.endBytes();
}

/** A few bad lines are passed over; what has more of them than names is another kind of file. @throws E_FORMAT */
function checkBad(bad: BadLines, rows: number): void {
  if (bad.lines > fewNames && bad.lines > rows) throw noNames(bad, `${bad.lines} of its first lines are no rows`);
}

function noNames({ first: [first] }: BadLines, problem = 'there are no names in it'): PakratError {
  return formatError('E_FORMAT', 'listfile', first === undefined ? problem : `${problem}: ${first.message}`);
}

/** Any line is a name; a page that says what went wrong is told by the characters that no name of a file has. */
function checkFirst(row: ListfileRow): void {
  if (row.fileDataId !== undefined || !/[<>"|?*{}]/.test(row.name)) return;
  throw formatError(
    'E_FORMAT',
    'listfile',
    `it starts with ${JSON.stringify(row.name.slice(0, 40))}, which is no name`,
  );
}

/** Adds what only the old version has. @returns how many names without an id only the new one has */
async function keepOlder(
  writer: ListfileWriter,
  { index, updated }: OldVersion,
  { listed, isNext, signal }: { listed: IdSet; isNext: boolean; signal: AbortSignal | undefined },
): Promise<number> {
  const added = await keepUnnamed(writer, index, signal);
  const kept = new IdSet();
  for (const rows of index?.ids.tables({ isReused: true }) ?? []) {
    await breathe(signal);
    for (let at = 0; at < rows.bytes.length; at += rows.stride) {
      const id = u32At(rows.bytes, at);
      if (!listed.has(id) && !(isNext && updated.has(id))) kept.add(id);
    }
  }
  // The next version of a list mostly has all that the last one had.
  if (kept.size === 0) return added;
  let lines = 0;
  for (const line of index?.lines() ?? []) {
    lines += 1;
    if (lines % linesPerTurn === 0) await breathe(signal);
    if (line.id !== undefined && kept.has(line.id)) writer.add(line.id, line);
  }
  return added;
}

/** The ids of a set that are not in another. */
function without(set: IdSet, other: IdSet): IdSet {
  const rest = new IdSet();
  for (const id of set) if (!other.has(id)) rest.add(id);
  return rest;
}

/** Writes the files of a new version, and compares it with the old. */
async function finish(
  folders: LookupFolders,
  writer: ListfileWriter,
  made: { old: OldVersion; version: ListfileVersion; updated: IdSet; signal: AbortSignal | undefined },
): Promise<Omit<ListfileChange, 'rows'>> {
  const { old, version, updated, signal } = made;
  let change: Omit<ListfileChange, 'rows'> | undefined;
  const compare = async (ids: LookupFile): Promise<void> => {
    change = { ids: ids.count, ...(await compareNames(old.index?.ids, ids, signal)) };
  };
  await writer.finish(version.base, { signal, onIds: compare });
  if (updated.size > 0) {
    writeDerived(listfilePaths(folders, version.base).updated, updated.bytes(), folders.temporary);
  }
  if (change === undefined) throw new Error('nothing was compared');
  return change;
}

function shrunk(
  folders: LookupFolders,
  { base, url = '' }: ListfileVersion,
  { removed }: { removed: number },
): PakratError {
  for (const path of Object.values(listfilePaths(folders, base))) fs.rmSync(path, { force: true });
  return new PakratError('E_INTEGRITY', `the list at ${url} has lost ${removed} of its names, more than half`, {
    hint: 'The names stay as they are. If the list is right, take it with `pakrat listfile import FILE`.',
    data: { url, removed },
  });
}

function writePointer(folders: LookupFolders, version: ListfileVersion): void {
  writeDerived(listfilePointer(folders), Buffer.from(`${JSON.stringify(version)}\n`), folders.temporary);
}

function useVersion(folders: LookupFolders, version: ListfileVersion): void {
  writePointer(folders, version);
  for (const name of fs.readdirSync(folders.names)) {
    const base = listfileBase(name);
    if (base !== undefined && base !== version.base) removeDerived(join(folders.names, name));
  }
}
