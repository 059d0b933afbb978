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

/** The files below a folder by their names in it, sorted, with their sizes; and the number of links, which are left out. @throws E_NOT_FOUND, E_STORE, E_ABORTED, E_USAGE for a name that is not UTF-8 */
export async function listFolder(
  folder: string,
  signal?: AbortSignal,
): Promise<{ files: (FolderFile & { size: number })[]; links: number }> {
  const files: (FolderFile & { size: number })[] = [];
  let links = 0;
  for (const { name, isLink } of walk(folder, refuseUnnamed)) {
    await breathe(signal);
    const path = join(folder, name);
    if (isLink) links += 1;
    else files.push({ name, path, size: reading(path, () => fs.statSync(path)).size, read: () => readWhole(path) });
  }
  files.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { files, links };
}

function readWhole(path: string): Uint8Array {
  return reading(path, () => new Uint8Array(fs.readFileSync(path)));
}

function folderFile(folder: string, inside: string): FolderFile {
  const path = join(folder, inside);
  const read = (): Uint8Array => readWhole(path);
  const [top = '', ...rest] = inside.split('/');
  return rest.length > 0 && isLocale(top)
    ? { path, name: rest.join('/'), locale: top, read }
    : { path, name: inside, read };
}

function isLocale(name: string): boolean {
  try {
    localeFlag(name);
    return /^[a-z]{2}[A-Z]{2}$/.test(name);
  } catch {
    return false;
  }
}
