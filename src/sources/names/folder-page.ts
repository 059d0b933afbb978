import { compareNames } from '../../core/names/name-order.ts';
import type { NameIndex, NameLine } from './name-index.ts';

/** A row of a folder: a file by its line, or a folder with a slash at its end. */
export type FolderRow = NameLine | { folder: string; at: number };

/** Part of what lies in a folder or was found. */
export interface NamesPage<Row> {
  rows: Row[];
  /** Where the next part begins; undefined behind the last. */
  next: number | undefined;
}

/** The part of a listing that is wanted. */
export interface PageChoice {
  /** Full path with a slash at its end; empty for the top. */
  folder: string;
  /** Place of the first row, as the page before told it. */
  from: number;
  limit: number;
}

/**
 * What lies directly in a folder, from a place on. A folder in it costs one look-up, however much is below it. Where all of it fits, folders come first.
 */
export function folderPage(index: NameIndex, { folder, from, limit }: PageChoice): NamesPage<FolderRow> {
  const start = index.lineStart(Math.max(from, folder === '' ? 0 : index.lowerBound(Buffer.from(folder))));
  const rows: FolderRow[] = [];
  let at = start;
  while (rows.length < limit) {
    const row = rowAt(index, folder, at);
    if (row === undefined) return { rows: from > 0 ? rows : foldersFirst(rows), next: undefined };
    rows.push(row);
    at = 'folder' in row ? index.lowerBound(behind(row.folder)) : row.next;
  }
  return { rows, next: rowAt(index, folder, at) === undefined ? undefined : at };
}

function rowAt(index: NameIndex, folder: string, at: number): FolderRow | undefined {
  for (const line of index.lines(at)) {
    // Behind the sorted ones are files without a name: they lie at the top.
    if (at >= index.sortedEnd) return folder === '' ? line : undefined;
    if (!line.name.startsWith(folder)) return undefined;
    const end = line.name.indexOf('/', folder.length);
    return end < 0 ? line : { folder: line.name.slice(0, end + 1), at: line.at };
  }
  return undefined;
}

/** The first name that could stand behind all that is in a folder: the character behind the slash ends it. */
function behind(folder: string): Buffer {
  return Buffer.from(`${folder.slice(0, -1)}0`);
}

function foldersFirst(rows: readonly FolderRow[]): FolderRow[] {
  return rows.toSorted((a, b) => {
    if ('folder' in a !== 'folder' in b) return 'folder' in a ? -1 : 1;
    return compareNames(nameOf(a), nameOf(b));
  });
}

function nameOf(row: FolderRow): string {
  return 'folder' in row ? row.folder : row.name;
}
