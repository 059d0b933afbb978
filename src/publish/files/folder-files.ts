import * as fs from 'node:fs';
import { join } from 'node:path';
import { walk } from '../../files/walk.ts';
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
  const names = [...walk(folder)].flatMap(({ name, isLink }) => (isLink ? [] : [name]));
  return names.sort().map((name) => folderFile(folder, name));
}

function folderFile(folder: string, inside: string): FolderFile {
  const path = join(folder, inside);
  const read = (): Uint8Array => new Uint8Array(fs.readFileSync(path));
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
