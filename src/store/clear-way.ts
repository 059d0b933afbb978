import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isDiskBroken, resultUnless } from '../core/errors.ts';
import { inStore, makeFolderDurable, syncFolder } from '../files/durable.ts';
import { namesIn } from '../files/walk.ts';
import type { StoreLayout } from './layout.ts';

/**
 * Sets aside a folder that has the name of an object, or a file that has the name of one of its folders. Nobody knows whose it is, so it goes
 * to tmp/ as it is. Both places of an object are looked at.
 * @throws E_STORE…
 */
export function clearWay(
  { root, partial, temporary }: Pick<StoreLayout, 'root' | 'partial' | 'temporary'>,
  path: string,
): void {
  for (const place of [root, partial]) clearBelow(place, path, temporary);
}

/** Moves what lies at a path to a folder of temporary files, where it stays. @returns its path there @throws E_STORE… */
export function setAside(found: string, temporary: string): string {
  const aside = join(temporary, `aside-${Date.now()}-${basename(found)}`);
  inStore(found, () => {
    makeFolderDurable(temporary);
    fs.renameSync(found, aside);
  });
  return aside;
}

/**
 * Clears the place of a file that can be made again where a broken disk gives its name alone: such a file can be neither replaced nor removed, so
 * its folder is set aside with it, and all others move to a new one. @throws E_STORE…
 */
export function clearLost(file: string, temporary: string): void {
  if (!isLost(file)) return;
  const folder = dirname(file);
  const aside = setAside(folder, temporary);
  makeFolderDurable(folder);
  for (const name of namesIn(aside))
    resultUnless(isDiskBroken, () => fs.renameSync(join(aside, name), join(folder, name)));
  inStore(folder, () => syncFolder(folder));
}

/** The place of a file that processes share, and that nobody keeps anything in: where a broken disk gives its name alone all of them take one in tmp/. */
export function sharedPlace(file: string, temporary: string): string {
  return isLost(file) ? join(temporary, basename(file)) : file;
}

/** True where a broken disk gives no more of a file than its name. */
export function isLost(file: string): boolean {
  try {
    fs.lstatSync(file);
    return false;
  } catch (error) {
    return isDiskBroken(error);
  }
}

function clearBelow(root: string, path: string, temporary: string): void {
  const names = path.split('/');
  for (const depth of names.keys()) {
    const found = join(root, ...names.slice(0, depth + 1));
    // What a broken disk does not even say the kind of cannot be moved, either.
    const stat = resultUnless(isDiskBroken, () => fs.statSync(found, { throwIfNoEntry: false }));
    if (stat === undefined) return;
    if (depth + 1 < names.length ? stat.isDirectory() : stat.isFile()) continue;
    setAside(found, temporary);
    return;
  }
}
