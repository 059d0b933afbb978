/*
 * The one walk through folders. Of links it knows one rule: a link to a folder is never entered, so that a walk ends, and
 * stays below the folder where it began. Whether a link to a file is a file, the caller says. What has a name that is not UTF-8 cannot be
 * asked for by it: whoever reads a folder passes it over, and whoever keeps all of one refuses it.
 */

import * as fs from 'node:fs';
import { join } from 'node:path';
import { isNotFound, PakratError, resultUnless } from '../core/errors.ts';
import { reading } from './read-at.ts';

/** Why a walk passes something over: its name is not UTF-8, or it is no file, as a pipe and a link that leads to none are. */
export type WhyNot = 'unnamed' | 'no file';

/**
 * The files below a folder: its own by name, then those of each folder in it; names are relative, with `/`.
 * @param onPassed called with the path of what is passed over
 * @throws E_NOT_FOUND, E_STORE
 */
export function* walk(
  root: string,
  onPassed: (path: string, why: WhyNot) => void = () => {},
): Generator<{ name: string; isLink: boolean }> {
  const folders = [''];
  for (let prefix = folders.pop(); prefix !== undefined; prefix = folders.pop()) {
    const inner: string[] = [];
    for (const entry of sortedEntries(join(root, prefix))) {
      const name = prefix + entry.name;
      if (isUnnamed(join(root, name))) onPassed(join(root, name), 'unnamed');
      else if (entry.isDirectory()) inner.push(`${name}/`);
      else if (entry.isFile() || entry.isSymbolicLink()) yield { name, isLink: entry.isSymbolicLink() };
      else onPassed(join(root, name), 'no file');
    }
    folders.push(...inner.reverse());
  }
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
  const [root, onPassed] = folder;
  for (const { name } of walk(...folder)) {
    const stat = fs.statSync(join(root, name), { throwIfNoEntry: false });
    if (stat?.isFile() === true) yield { name, stat };
    else onPassed?.(join(root, name), 'no file');
  }
}

/** The entries directly in a folder, by name. @throws E_NOT_FOUND, E_STORE */
export function sortedEntries(folder: string): fs.Dirent[] {
  const entries = reading(folder, () => fs.readdirSync(folder, { withFileTypes: true }));
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Names in a folder, sorted; none when it is not there. @throws E_STORE */
export function namesIn(folder: string): string[] {
  return resultUnless(isNotFound, () => sortedEntries(folder).map(({ name }) => name)) ?? [];
}

/** A child of a folder whatever the case of its name, as the systems have it for which games are made; undefined when it is not there. */
export function childOf(folder: string, name: string): string | undefined {
  const names = namesIn(folder);
  const found = names.includes(name) ? name : names.find((other) => other.toLowerCase() === name.toLowerCase());
  return found === undefined ? undefined : join(folder, found);
}
