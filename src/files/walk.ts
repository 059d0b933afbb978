/*
 * The one walk through folders. Of links it knows one rule: a link to a folder is never entered, so that a walk ends, and
 * stays below the folder where it began. Whether a link to a file is a file, the caller says.
 */

import * as fs from 'node:fs';
import { join } from 'node:path';
import { isNotFound, resultUnless } from '../core/errors.ts';
import { reading } from './read-at.ts';

/** The files below a folder: its own by name, then those of each folder in it; names are relative, with `/`. @throws E_NOT_FOUND, E_STORE */
export function* walk(root: string): Generator<{ name: string; isLink: boolean }> {
  const folders = [''];
  for (let prefix = folders.pop(); prefix !== undefined; prefix = folders.pop()) {
    const inner: string[] = [];
    for (const entry of sortedEntries(join(root, prefix))) {
      const name = prefix + entry.name;
      if (entry.isDirectory()) inner.push(`${name}/`);
      else if (entry.isFile() || entry.isSymbolicLink()) yield { name, isLink: entry.isSymbolicLink() };
    }
    folders.push(...inner.reverse());
  }
}

/** The plain files below a folder, links to such among them, in the order of {@link walk}. @throws E_NOT_FOUND, E_STORE */
export function* walkFiles(root: string): Generator<{ name: string; stat: fs.Stats }> {
  for (const { name } of walk(root)) {
    const stat = fs.statSync(join(root, name), { throwIfNoEntry: false });
    if (stat?.isFile() === true) yield { name, stat };
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
