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
  for (const row of folderRows(index, folder, start)) {
    if (rows.length === limit) return { rows, next: row.at };
    rows.push(row);
  }
  return { rows: from > 0 ? rows : foldersFirst(rows), next: undefined };
}

/** What lies directly in a folder, from the place of a line on, by name. */
export function* folderRows(
  index: NameIndex,
  folder: string,
  from: number = index.lowerBound(Buffer.from(folder)),
): Generator<FolderRow> {
  for (let start: number | undefined = from; start !== undefined; ) {
    const lines = index.lines(start);
    start = undefined;
    for (const line of lines) {
      // Behind the sorted ones are files without a name: they lie at the top.
      const isSorted = line.at < index.sortedEnd;
      if (isSorted ? !line.name.startsWith(folder) : folder !== '') return;
      const end = isSorted ? line.name.indexOf('/', folder.length) : -1;
      if (end < 0) yield line;
      else {
        const inner = line.name.slice(0, end + 1);
        yield { folder: inner, at: line.at };
        start = index.lowerBound(behind(inner));
        break;
      }
    }
  }
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
