import * as fs from 'node:fs';
import { join } from 'node:path';
import { equalBytes } from '../core/bytes.ts';
import { type FolderFile, listFolderFiles } from '../publish/files/folder-files.ts';

/** The outcome of a comparison of extracted files with the originals. */
export interface Comparison {
  /** Files that were looked at, and their bytes. */
  files: number;
  bytes: number;
  /** Paths of those that are missing, not the same byte for byte, or too many. */
  different: string[];
}

/** Compares the files of a game in one language with those below a folder. */
export function compareWithGame(game: readonly FolderFile[], folder: string, locale: string): Comparison {
  const result: Comparison = { files: 0, bytes: 0, different: [] };
  const expected = game.filter((file) => file.locale === undefined || file.locale === locale);
  const names = new Set(expected.map(({ name }) => name));
  for (const { name, path } of expected) {
    const original = fs.readFileSync(path);
    result.files += 1;
    result.bytes += original.length;
    const extracted = join(folder, name);
    if (!fs.existsSync(extracted) || !equalBytes(original, fs.readFileSync(extracted)))
      result.different.push(extracted);
  }
  for (const { name, path } of listFolderFiles(folder)) if (!names.has(name)) result.different.push(path);
  return result;
}
