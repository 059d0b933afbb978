import * as fs from 'node:fs';
import { join } from 'node:path';
import { breathe } from '../../core/breathe.ts';
import { reading } from '../../files/read-at.ts';
import { refuseUnnamed, walk } from '../../files/walk.ts';
import { localeFlag } from '../../formats/roots/locale.ts';
import type { PublishFile } from './publish-file.ts';

/** A file of a folder that is to be published. */
export interface FolderFile extends PublishFile {
  /** Where it lies. */
  path: string;
}

/**
 * The files below a folder, sorted by path; links are passed over. A folder at the top that is named as a locale holds the variants for it:
 * `deDE/texts/story.txt` is `texts/story.txt` for deDE.
 */
export function listFolderFiles(folder: string): FolderFile[] {
  const names = [...walk(folder, refuseUnnamed)].flatMap(({ name, isLink }) => (isLink ? [] : [name]));
  return names.sort().map((name) => folderFile(folder, name));
}

/** The names of the files below a folder. */
export interface FolderNames {
  /** Sorted, with `/` between the parts. */
  names: readonly string[];
  /** Bytes of each. */
  sizes: readonly number[];
  /** How many links there are, which are left out. */
  links: number;
}

/** Lists the files below a folder by their names in it. @throws E_NOT_FOUND, E_STORE, E_ABORTED, E_USAGE for a name that is not UTF-8 */
export async function listFolder(folder: string, signal?: AbortSignal): Promise<FolderNames> {
  const names: string[] = [];
  let links = 0;
  for (const { name, isLink } of walk(folder, refuseUnnamed)) {
    await breathe(signal);
    if (isLink) links += 1;
    else names.push(name);
  }
  names.sort();
  const sizes: number[] = [];
  for (const name of names) {
    await breathe(signal);
    const path = join(folder, name);
    sizes.push(reading(path, () => fs.statSync(path)).size);
  }
  return { names, sizes, links };
}

/** A file of a folder. */
export function fileIn(folder: string, name: string): FolderFile {
  const path = join(folder, name);
  return { name, path, read: () => readWhole(path) };
}

function readWhole(path: string): Uint8Array {
  return reading(path, () => new Uint8Array(fs.readFileSync(path)));
}

function folderFile(folder: string, inside: string): FolderFile {
  const file = fileIn(folder, inside);
  const [top = '', ...rest] = inside.split('/');
  return rest.length > 0 && isLocale(top) ? { ...file, name: rest.join('/'), locale: top } : file;
}

function isLocale(name: string): boolean {
  try {
    localeFlag(name);
    return /^[a-z]{2}[A-Z]{2}$/.test(name);
  } catch {
    return false;
  }
}
