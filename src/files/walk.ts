/*
 * The one walk through folders. Of links it knows one rule: a link to a folder is never entered, so that a walk ends, and
 * stays below the folder where it began. Whether a link to a file is a file, the caller says. What has a name that is not UTF-8 cannot be
 * asked for by it: whoever reads a folder passes it over, and whoever keeps all of one refuses it.
 */

import * as fs from 'node:fs';
import { join } from 'node:path';
import { isDiskBroken, isNotFound, isPakratError, PakratError, resultUnless } from '../core/errors.ts';
import { compareNames } from '../core/names/name-order.ts';
import { addAll } from '../core/tables/add-all.ts';
import { folderEntries } from './read-at.ts';
import { sortedInSystemFolder } from './sorted/sorted-texts.ts';

/** Why a walk passes something over: its name is not UTF-8, or it is no file, as a pipe and a link that leads to none are. */
export type WhyNot = 'unnamed' | 'no file';

/** Called with the path of a folder whose names a broken disk does not give, or not all of them. */
export type OnUnread = (path: string, error: unknown) => void;

/** The ways of a walk. */
export interface WalkOptions {
  /** Called with the path of what is passed over. */
  onPassed?: ((path: string, why: WhyNot) => void) | undefined;
  /** For folders below the first. Without it the walk ends with the error. */
  onUnread?: OnUnread | undefined;
  /**
   * For whoever sorts what he gets: the entries of a folder that has more than are sorted in memory come as the system has them. To sort those of millions takes
   * seconds, in which nothing else is heard.
   */
  largeUnsorted?: boolean | undefined;
}

/**
 * The files below a folder: its own by name, then those of each folder in it; names are relative, with `/`.
 * @throws E_NOT_FOUND, E_STORE…, where a large folder is sorted in a file about that, too
 */
export function* walk(
  root: string,
  { onPassed = () => {}, onUnread, largeUnsorted = false }: WalkOptions = {},
): Generator<{ name: string; isLink: boolean }> {
  const folders = [''];
  for (let prefix = folders.pop(); prefix !== undefined; prefix = folders.pop()) {
    const inner: string[] = [];
    try {
      for (const { own, kind } of entriesByName(join(root, prefix), largeUnsorted)) {
        const name = prefix + own;
        if (isUnnamed(join(root, name))) onPassed(join(root, name), 'unnamed');
        else if (kind === kinds.folder) inner.push(`${name}/`);
        else if (kind === kinds.other) onPassed(join(root, name), 'no file');
        else yield { name, isLink: kind === kinds.link };
      }
    } catch (error) {
      if (prefix === '') throw error;
      tellUnread(join(root, prefix), error, onUnread);
    }
    addAll(folders, inner.reverse());
  }
}

/** Tells of a folder whose names a broken disk does not give. @throws any other error, and that one where nobody is told */
function tellUnread(path: string, error: unknown, onUnread: OnUnread | undefined): void {
  const cause = isPakratError(error) ? error.cause : error;
  if (onUnread === undefined || !isDiskBroken(cause)) throw error;
  onUnread(path, cause);
}

/** True for a path out of a listing by which nothing is there: in place of bytes that are not UTF-8 the system gives a mark. */
function isUnnamed(path: string): boolean {
  return path.includes('\ufffd') && fs.lstatSync(path, { throwIfNoEntry: false }) === undefined;
}

/** For {@link walk}, where no file may be left out. @throws E_USAGE */
export function refuseUnnamed(path: string, why: WhyNot): void {
  if (why !== 'unnamed') return;
  throw new PakratError('E_USAGE', `${path}: its name is not UTF-8`, {
    hint: 'Rename it; convmv does so for many.',
    data: { path },
  });
}

/** The plain files below a folder, links to such among them, in the order and with the parameters of {@link walk}. @throws E_NOT_FOUND, E_STORE */
export function* walkFiles(...folder: Parameters<typeof walk>): Generator<{ name: string; stat: fs.Stats }> {
  const [root, { onPassed } = {}] = folder;
  for (const { name } of walk(...folder)) {
    const stat = fs.statSync(join(root, name), { throwIfNoEntry: false });
    if (stat?.isFile() === true) yield { name, stat };
    else onPassed?.(join(root, name), 'no file');
  }
}

/** What an entry of a folder is, as it stands beside its name in a file. */
const kinds = { file: 0, link: 1, folder: 2, other: 3 };
/** Entries of one folder that are sorted in memory. */
const mostEntries = 1 << 16;

interface NamedEntry {
  /** Its name in the folder. */
  own: string;
  kind: number;
}

/** The entries directly in a folder, by name; of a large one perhaps unsorted. */
function* entriesByName(folder: string, largeUnsorted: boolean): Generator<NamedEntry> {
  const entries = folderEntries(folder);
  try {
    const first: NamedEntry[] = [];
    while (first.length < mostEntries) {
      const { done, value } = entries.next();
      if (done === true) {
        yield* first.sort((a, b) => compareNames(a.own, b.own));
        return;
      }
      first.push(named(value));
    }
    if (!largeUnsorted) {
      yield* sortedOnDisk(first, entries);
      return;
    }
    yield* first;
    for (const entry of entries) yield named(entry);
  } finally {
    // Whoever walks may end before the folder does.
    entries.return(undefined);
  }
}

function* sortedOnDisk(first: NamedEntry[], rest: Iterable<fs.Dirent>): Generator<NamedEntry> {
  const sorted = sortedInSystemFolder();
  try {
    for (const { own, kind } of first.splice(0)) sorted.add(own, Uint8Array.of(kind));
    for (const entry of rest) sorted.add(entry.name, Uint8Array.of(kindOf(entry)));
    for (const { text, beside } of sorted.rows()) yield { own: text.toString(), kind: beside[0]! };
  } finally {
    sorted.close();
  }
}

function named(entry: fs.Dirent): NamedEntry {
  return { own: entry.name, kind: kindOf(entry) };
}

function kindOf(entry: fs.Dirent): number {
  if (entry.isFile()) return kinds.file;
  if (entry.isSymbolicLink()) return kinds.link;
  return entry.isDirectory() ? kinds.folder : kinds.other;
}

/** Names in a folder for which a test says yes, sorted; none when it is not there. @throws E_STORE, a broken disk's only without `onUnread` */
export function namesIn(
  folder: string,
  isWanted: (name: string) => boolean = () => true,
  onUnread?: OnUnread,
): string[] {
  const found: string[] = [];
  const look = (): void => {
    for (const { name } of folderEntries(folder)) if (isWanted(name)) found.push(name);
  };
  try {
    resultUnless(isNotFound, look);
  } catch (error) {
    tellUnread(folder, error, onUnread);
  }
  return found.sort(compareNames);
}

/** Children of a folder whatever the case of their names, as the systems have it for which games are made; undefined for each that is not there. */
export function childrenOf(folder: string, names: readonly string[]): (string | undefined)[] {
  const wanted = names.map((name) => name.toLowerCase());
  const found = namesIn(folder, (name) => wanted.includes(name.toLowerCase()));
  return names.map((name, i) => {
    const own = found.includes(name) ? name : found.find((other) => other.toLowerCase() === wanted[i]);
    return own === undefined ? undefined : join(folder, own);
  });
}

/** One of {@link childrenOf}. */
export function childOf(folder: string, name: string): string | undefined {
  return childrenOf(folder, [name])[0];
}
