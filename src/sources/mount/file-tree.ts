import { breathe } from '../../core/breathe.ts';
import type { WorkOptions } from '../../core/progress.ts';
import { nameParts } from '../../files/output/output-path.ts';
import { SortedTexts } from '../../files/sorted/sorted-texts.ts';
import { type BuildEntry, isBuildSource } from '../build-source.ts';
import { batchesOf } from '../look.ts';
import { folderRows } from '../names/folder-page.ts';
import { NameIndex, type NameLine } from '../names/name-index.ts';
import { NamesWriter } from '../names/names-writer.ts';
import type { Source, SourceEntry } from '../source.ts';

/*
 * The files of a source as folders, by their paths in a file of names (names/name-index.ts): of millions of files nothing is kept in memory. What is
 * written beside a path is the name by which the source gives the file.
 */

/** Between the number of a file and its name, in what is beside a path while they are sorted. */
const besideEnd = 0x3b;
/** Rows that are written before the clock is looked at. */
const rowsPerTurn = 1024;

/** A file of a tree, as its source gives it. */
export type TreeFile = Pick<NameLine, 'at' | 'other' | 'index'>;

/** The names in a folder of a tree. */
export interface FolderNames {
  folders: string[];
  files: string[];
}

/** Names that do not show: with parts that are empty, `.` or `..`, or with that of a folder, or of a file before. */
class Skipped {
  count = 0;
  /** The one that was seen first. */
  first: string | undefined;

  add(name: string): void {
    this.count += 1;
    this.first ??= name;
  }
}

/** Where the names of a source go, and who hears of them. */
interface TreePlace extends WorkOptions {
  /** Folder for temporary files. */
  temporary: string;
}

/** The files of a source as folders. An open handle; needs `close`. */
export class FileTree {
  readonly files: number;
  readonly skipped: Pick<Skipped, 'count' | 'first'>;
  readonly #paths: NameIndex;
  /** Files that have the name of a folder: that one shows. */
  readonly #covered: ReadonlySet<string>;

  constructor(paths: NameIndex, covered: ReadonlySet<string>, skipped: Skipped) {
    this.files = paths.count - covered.size;
    this.skipped = skipped;
    this.#paths = paths;
    this.#covered = covered;
  }

  close(): void {
    this.#paths.close();
  }

  /** What is at a path that starts with `/`. */
  find(path: string): TreeFile | 'folder' | undefined {
    const name = nameOf(path);
    if (name === '') return 'folder';
    const file = this.#covered.has(name) ? undefined : this.#paths.find(Buffer.from(name));
    if (file !== undefined) return file;
    const [inside] = folderRows(this.#paths, `${name}/`);
    return inside && 'folder';
  }

  /** The names in a folder; undefined where there is none at the path. */
  namesIn(path: string): FolderNames | undefined {
    if (this.find(path) !== 'folder') return undefined;
    const name = nameOf(path);
    const folder = name === '' ? '' : `${name}/`;
    const folders: string[] = [];
    const files: string[] = [];
    for (const row of folderRows(this.#paths, folder)) {
      if ('folder' in row) folders.push(row.folder.slice(folder.length, -1));
      else if (!this.#covered.has(row.name)) files.push(row.name.slice(folder.length));
    }
    return { folders, files };
  }
}

/** A path of the system as it stands in the file of names. */
function nameOf(path: string): string {
  return path.split('/').filter(Boolean).join('/');
}

/** Builds the tree of a source, without what it does not give for its names. @throws as listing the source does, E_STORE…, E_ABORTED */
export async function buildTree(source: Source, { temporary, signal, onProgress }: TreePlace): Promise<FileTree> {
  const sorter = new SortedTexts(temporary);
  const skipped = new Skipped();
  try {
    let done = 0;
    const matches = (): boolean => true;
    for await (const entries of batchesOf(source, matches, { namesOnly: true })) {
      await breathe(signal);
      done += entries.length;
      onProgress?.({ type: 'entry', phase: 'names', done, total: 0 });
      for (const entry of entries) {
        if (entry.hidden !== undefined) continue;
        const path = pathOf(entry.name);
        if (path === undefined) skipped.add(entry.name);
        else sorter.add(path, Buffer.from(`${entry.index ?? ''};${nameToGet(source, entry)}`));
      }
    }
    return await writeTree(sorter, { temporary, signal, onProgress }, skipped);
  } finally {
    sorter.close();
  }
}

/** What no path can have as it stands: a backslash, a NUL, and parts that are empty, `.` or `..`. */
const unusual = /[\\\0]|(?:^|\/)\.{0,2}(?:\/|$)/;

/** The path of a name; undefined for one that no folder can have in it. */
function pathOf(name: string): string | undefined {
  if (!unusual.test(name)) return name;
  const parts = nameParts(name);
  const isBad = parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'));
  return isBad ? undefined : parts.join('/');
}

/** What the source gives a file by: of a build its id, for two of them may be called the same but for their case. */
function nameToGet(source: Source, entry: SourceEntry): string {
  const id = isBuildSource(source) ? (entry as BuildEntry).file.fileDataId : undefined;
  return id === undefined ? entry.name : `fdid:${id}`;
}

/** Writes the paths that were sorted; of several files with one path the first shows. */
async function writeTree(
  sorter: SortedTexts,
  { temporary, signal, onProgress }: TreePlace,
  skipped: Skipped,
): Promise<FileTree> {
  const writer = new NamesWriter(temporary);
  const covered = new Set<string>();
  /** Files whose paths the next may begin with, the shortest first. */
  const above: string[] = [];
  try {
    let rows = 0;
    for (const { text, beside } of sorter.rows()) {
      if (rows % rowsPerTurn === 0) {
        await breathe(signal);
        onProgress?.({ type: 'entry', phase: 'folders', done: rows, total: 0 });
      }
      rows += 1;
      const path = text.toString();
      while (above.length > 0 && !path.startsWith(above.at(-1)!)) above.pop();
      if (path === above.at(-1)) {
        skipped.add(path);
        continue;
      }
      for (const file of above) {
        if (path[file.length] !== '/' || covered.has(file)) continue;
        covered.add(file);
        skipped.add(file);
      }
      above.push(path);
      const end = beside.indexOf(besideEnd);
      const index = end === 0 ? undefined : Number(beside.toString('latin1', 0, end));
      writer.add(path, { other: beside.toString('utf8', end + 1), index });
    }
    return new FileTree(new NameIndex(writer.finish()), covered, skipped);
  } catch (error) {
    writer.discard();
    throw error;
  }
}
