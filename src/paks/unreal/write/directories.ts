/*
 * What the directory index of a PAK has (../index/directory-index.ts for its layout): every directory, those that have no files of their own included, with its files.
 */
import { breathe } from '../../../core/breathe.ts';
import { SortedTexts } from '../../../files/sorted/sorted-texts.ts';
import type { Spool } from '../../../files/spool.ts';
import { rowsPerTurn } from '../../sorted-files.ts';
import { utf8NamesVersion } from '../index/directory-index.ts';
import { writeFString } from '../index/fstring.ts';

/** A file by its name in the PAK or in its directory, and where the index has its entry. */
export interface LocatedName {
  name: string;
  location: number;
}

/** Directories in the order in which an index has them. */
export interface Directories extends Iterable<Directory> {
  readonly count: number;
}

/** A directory, with `/` at its end: `''` for the root. */
export interface Directory {
  name: string;
  count: number;
  /** By their names in it. To be gone through before the next directory is asked for. */
  files: Iterable<LocatedName>;
}

/** Writes a directory index in the nested form. @throws E_ABORTED */
export async function writeDirectories(
  spool: Spool,
  directories: Directories,
  { version, signal }: { version: number; signal?: AbortSignal | undefined },
): Promise<void> {
  spool.writer.u32le(directories.count);
  let row = 0;
  for (const directory of directories) {
    writeFString(spool.writer, directory.name === '' ? '/' : directory.name);
    spool.writer.u32le(directory.count);
    for (const { name, location } of directory.files) {
      if (row++ % rowsPerTurn === 0) await breathe(signal);
      const { writer } = spool;
      if (version < utf8NamesVersion) writeFString(writer, name);
      else writer.u32le(Buffer.byteLength(name)).text(name);
      writer.i32le(location);
    }
  }
}

/**
 * The directories of files, which stay in their order.
 * @param order the directories that come first, as an older PAK has them; without it they are sorted
 */
export function directoriesOf(files: Iterable<LocatedName>, order?: readonly string[]): Directories {
  const directories = new Map<string, LocatedName[]>();
  for (const directory of order ?? []) directories.set(directory.startsWith('/') ? directory.slice(1) : directory, []);
  for (const { name, location } of files) {
    const [directory, inside] = splitName(name);
    const known = directories.get(directory);
    if (known !== undefined) known.push({ name: inside, location });
    else {
      directories.set(directory, [{ name: inside, location }]);
      for (const above of directoriesAbove(directory, directories)) directories.set(above, []);
    }
  }
  const rows = Array.from(directories, ([name, files]) => ({ name, count: files.length, files }));
  if (order === undefined) rows.sort((a, b) => compareTexts(a.name, b.name));
  return { count: rows.length, [Symbol.iterator]: () => rows.values() };
}

/** Of each file: where its entry is. */
const locationSize = 4;

/** The directories of very many files, whose names are sorted and lie on disk. Needs `close`. */
export class SortedDirectories implements Directories {
  /** How many files each directory has. */
  readonly #counts = new Map<string, number>();
  readonly #names: SortedTexts;
  readonly #location = Buffer.alloc(locationSize);

  /** @param temporary as SortedTexts has it */
  constructor(temporary: string | undefined) {
    this.#names = new SortedTexts(temporary, '.pakrat-');
  }

  /** How many directories there are. */
  get count(): number {
    return this.#counts.size;
  }

  add({ name, location }: LocatedName): void {
    const [directory, inside] = splitName(name);
    const known = this.#counts.get(directory);
    this.#counts.set(directory, (known ?? 0) + 1);
    if (known === undefined) for (const above of directoriesAbove(directory, this.#counts)) this.#counts.set(above, 0);
    this.#location.writeInt32LE(location);
    // No name has a NUL: so files are sorted by their directories, and then by their names.
    this.#names.add(`${directory}\0${inside}`, this.#location);
  }

  *[Symbol.iterator](): Generator<Directory> {
    const rows = this.#names.rows();
    const directories = [...this.#counts].sort(([a], [b]) => compareTexts(a, b));
    for (const [name, count] of directories) yield { name, count, files: filesOf(rows, name, count) };
  }

  /** Forgets everything. */
  close(): void {
    this.#names.close();
  }
}

/** The next files of a directory. */
function* filesOf(rows: ReturnType<SortedTexts['rows']>, directory: string, count: number): Generator<LocatedName> {
  const before = Buffer.byteLength(directory) + 1;
  for (let i = 0; i < count; i++) {
    const next = rows.next();
    if (next.done === true) return;
    const { bytes, start, end } = next.value;
    yield { name: bytes.toString('utf8', start + before, end), location: bytes.readInt32LE(end) };
  }
}

function splitName(name: string): [directory: string, inside: string] {
  const split = name.lastIndexOf('/') + 1;
  return [name.slice(0, split), name.slice(split)];
}

/** Those above a directory that are not known, the next one first. */
function* directoriesAbove(directory: string, known: ReadonlyMap<string, unknown>): Generator<string> {
  for (let at = directory; at !== ''; ) {
    at = at.slice(0, at.lastIndexOf('/', at.length - 2) + 1);
    if (known.has(at)) return;
    yield at;
  }
}

function compareTexts(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
