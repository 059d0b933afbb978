import { breathe } from '../core/breathe.ts';
import { isNotFound, PakratError, throwIfAborted, valueUnless } from '../core/errors.ts';
import { fold, hasGlob, nameMatcher } from '../core/glob.ts';
import { compareNames } from '../core/names/name-order.ts';
import { type Folder, folderOf, isFolderName } from './folders.ts';
import { SortedRows } from './names/sorted-rows.ts';
import type { RegexSearch } from './regex-search.ts';
import { neededBy } from './select.ts';
import type { ListHints, Source, SourceEntry } from './source.ts';

/** A folder in a listing. */
export interface ListedFolder {
  /** Its whole path, with a slash at its end. */
  readonly name: string;
  readonly folder: true;
}

/** A row of a listing: a file, or a folder that is not gone into. */
export type ListedRow = SourceEntry | ListedFolder;

/** True for a folder. */
export function isListedFolder(row: ListedRow): row is ListedFolder {
  return 'folder' in row;
}

/** The part of a source that is looked at. */
export interface LookChoice {
  /** Names, folders and globs; none for the whole source. */
  names: readonly string[];
  /** Go into folders, all the way down. Globs and regular expressions do so anyway. */
  recursive: boolean;
  regex?: RegexSearch | undefined;
  /** Nothing is asked of a row but its name. */
  namesOnly?: boolean | undefined;
  /** Told of each name, folder and glob of which there is nothing. */
  onMissing: (name: string) => void;
  signal?: AbortSignal | undefined;
}

/** The names that were given, as what they turned out to be. */
interface Sought<Entry> {
  files: Entry[];
  folders: (Folder & { found: boolean })[];
  globs: { text: string; matches: (name: string) => boolean; found: boolean }[];
}

/**
 * The rows of a listing, a few or many at a time, sorted by name: files that were named come first. A folder shows what lies directly in it; its own folders are rows.
 * Each folder is a row as soon as the first of its files comes by, so nothing waits for the end, whatever the size of the source.
 * @throws E_USAGE for a pattern that cannot be used, E_ABORTED
 */
export async function* look(source: Source, choice: LookChoice): AsyncGenerator<readonly ListedRow[]> {
  const { names, recursive, regex, namesOnly, signal } = choice;
  const sought = await seek(source, names);
  for (const entry of sought.files) if ((await regex?.finds(entry.name)) !== false) yield [entry];
  const { folders, globs } = sought;
  if (names.length > 0 && folders.length + globs.length === 0) return;
  const shown = new Set<string>();
  const rowOf = (name: string): string | undefined => {
    let row: string | undefined;
    for (const glob of globs) {
      if (!glob.matches(name)) continue;
      glob.found = true;
      row = name;
    }
    for (const folder of folders) {
      const start = folder.start(name);
      if (start < 0) continue;
      folder.found = true;
      const end = recursive || regex !== undefined ? -1 : name.indexOf('/', start);
      row ??= end < 0 ? name : name.slice(0, end + 1);
    }
    return row;
  };
  // Asked once whether a file is listed, and then as what.
  const last: { name: string | undefined; row: string | undefined } = { name: undefined, row: undefined };
  const takes = (name: string): string | undefined => {
    if (name === last.name) return last.row;
    last.name = name;
    last.row = rowOf(name);
    return last.row;
  };
  const matches = (name: string): boolean => {
    throwIfAborted(signal);
    const row = takes(name);
    // The file that comes by first may have no variant for the locale: all of a folder are asked for until one is there.
    return row !== undefined && !shown.has(row);
  };
  const filtered = await regex?.filter(source, matches);
  const needed = filtered ? undefined : neededBy([...globs, ...folders].map(({ text }) => text));
  const folderOf = (name: string): string | undefined => {
    throwIfAborted(signal);
    const row = takes(name);
    if (row === undefined || row === name) return undefined;
    // A folder that was named as well may lie in it, and has to be found.
    const isWhole = (path: string): boolean => !folders.some((one) => !one.found && one.path.startsWith(fold(path)));
    let end = row.length;
    while (end > 0 && !isWhole(name.slice(0, end))) end = name.indexOf('/', end) + 1;
    return end === 0 ? undefined : name.slice(0, end);
  };
  const isShallow = !recursive && regex === undefined && globs.length === 0;
  // Where folders do not tell what names begin with, all are gone through, and at once.
  const isTold = needed !== undefined || folders.some(({ path }) => path === '');
  const hints = { needed, namesOnly, ...(isShallow && isTold && { folderOf }) };
  const listed = { matches: filtered ?? matches, hints, takes, signal };
  for await (const entries of inNameOrder(source, listed)) {
    const rows: ListedRow[] = [];
    for (const entry of entries) {
      const row = takes(entry.name) ?? entry.name;
      if (row === entry.name) rows.push(entry);
      else if (!shown.has(row)) {
        shown.add(row);
        rows.push({ name: row, folder: true });
      }
    }
    if (rows.length > 0) yield rows;
  }
  for (const { text, found } of [...globs, ...folders]) if (!found && names.length > 0) choice.onMissing(text);
}

/** A name is that of a file if there is such a file, whatever it looks like; else a glob, else a folder. */
async function seek(source: Source, names: readonly string[]): Promise<Sought<SourceEntry>> {
  const sought: Sought<SourceEntry> = { files: [], folders: [], globs: [] };
  for (const text of names) if (hasGlob(text)) nameMatcher([text]);
  for (const text of names.length === 0 ? ['/'] : names) {
    const entry = isFolderName(text) ? undefined : await valueUnless(isNotFound, source.get(text));
    if (entry !== undefined) sought.files.push(...(await namesakes(source, entry, text)));
    else if (hasGlob(text)) sought.globs.push({ text, matches: nameMatcher([text]), found: false });
    else sought.folders.push({ ...folderOf(text), found: false });
  }
  return sought;
}

/** All rows that have the name of one, where a name can be there twice and was not asked for by its number. */
async function namesakes(source: Source, entry: SourceEntry, text: string): Promise<SourceEntry[]> {
  if (entry.index === undefined || text.startsWith('index:')) return [entry];
  const rows: SourceEntry[] = [];
  for await (const row of source.list((name) => name === entry.name)) rows.push(row);
  return rows;
}

/** Rows that are taken between two breaths. */
const rowsOfBatch = 1024;

/** What is listed of a source. */
interface Listed {
  matches: (name: string) => boolean;
  hints: ListHints;
  /** The row as which a file is listed: itself, or a folder. */
  takes: (name: string) => string | undefined;
  signal: AbortSignal | undefined;
}

/** The rows of a source by name. Where it has no such order they are sorted; of the files of a folder that is a row the first is enough. */
async function* inNameOrder(
  source: Source,
  { matches, hints, takes, signal }: Listed,
): AsyncGenerator<readonly SourceEntry[]> {
  if (source.isInNameOrder === true) {
    if (source.listBatches !== undefined) yield* source.listBatches(matches, hints);
    else for await (const row of source.list(matches, hints)) yield [row];
    return;
  }
  const rows = new SortedRows(source);
  try {
    const firsts = new Map<string, SourceEntry>();
    for await (const batch of batchesOf(source, matches, hints)) {
      await breathe(signal);
      for (const entry of batch) {
        const row = takes(entry.name);
        const first = row === undefined || row === entry.name ? entry : firsts.get(row);
        if (first === entry) rows.add(entry);
        else if (row !== undefined && (first === undefined || compareNames(entry.name, first.name) < 0))
          firsts.set(row, entry);
      }
    }
    for (const entry of firsts.values()) rows.add(entry);
    yield* rows.batches();
  } finally {
    rows.close();
  }
}

/** The rows of a source many at a time, whether or not it lists them so. */
export async function* batchesOf(
  source: Source,
  matches: (name: string) => boolean,
  hints: ListHints,
): AsyncGenerator<readonly SourceEntry[]> {
  if (source.listBatches !== undefined) {
    yield* source.listBatches(matches, hints);
    return;
  }
  let batch: SourceEntry[] = [];
  for await (const row of source.list(matches, hints)) {
    if (batch.push(row) < rowsOfBatch) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** The error for names, or for expressions, of which there is nothing. */
export function nothingFound(source: Source, names: readonly string[], regex: readonly string[]): PakratError {
  const [name = ''] = names;
  if (names.length !== 1 || hasGlob(name) || regex.length > 0) {
    const glob = (regex.length > 0 ? regex : names).join(' or ');
    return new PakratError('E_NOT_FOUND', `no file of ${source.label} matches ${glob}`, { data: { glob } });
  }
  const what = isFolderName(name) ? 'folder' : 'file or folder';
  return new PakratError('E_NOT_FOUND', `${source.label} has no ${what} ${name}`, { data: { name } });
}
