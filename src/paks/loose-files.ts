import * as fs from 'node:fs';
import { join } from 'node:path';
import { fileSource } from '../files/file-source.ts';
import { checkPart, readPieces } from '../files/pieces.ts';
import { folderEntries } from '../files/read-at.ts';
import { walkFiles } from '../files/walk.ts';
import { cleanName, foldName } from './names.ts';
import { getRow, type Pak, type PakEntry, type PakProblem } from './pak.ts';

/**
 * The plain files below a folder, by name, as a PAK of its own: the last step of most search paths. Links to files are
 * followed, links to folders are not. They are listed when all are asked for; one by name is looked for along its path.
 * @param isWanted tells by the relative name, with `/`
 * @throws E_NOT_FOUND, E_STORE, also when it is asked for entries
 */
export function openLooseFiles(root: string, isWanted: (name: string) => boolean): Pak {
  return new LooseFiles(root, isWanted);
}

class LooseFiles implements Pak {
  readonly family = 'folder';
  readonly version = '';
  readonly notes: readonly string[] = [];
  readonly facts: Record<string, unknown> = {};
  readonly #root: string;
  readonly #isWanted: (name: string) => boolean;
  #entries: readonly PakEntry[] | undefined;

  constructor(root: string, isWanted: (name: string) => boolean) {
    this.#root = root;
    this.#isWanted = isWanted;
  }

  get entries(): readonly PakEntry[] {
    this.#entries ??= this.#list();
    return this.#entries;
  }

  #list(): PakEntry[] {
    // What the system says of a file is ten times as large as what is kept of it.
    const entries: ListedFile[] = [];
    for (const { name, stat } of walkFiles(this.#root, { largeUnsorted: true }))
      if (this.#isWanted(name)) entries.push(new ListedFile(name, stat));
    entries.sort(byName);
    entries.forEach((entry, index) => {
      entry.index = index;
    });
    return entries;
  }

  find(name: string): PakEntry | undefined {
    const wanted = cleanName(name);
    return (
      this.entries.find((entry) => entry.name === wanted) ??
      this.entries.find((entry) => foldName(entry.name) === foldName(wanted))
    );
  }

  namesakes(name: string): readonly PakEntry[] | undefined {
    if (this.#entries !== undefined) return undefined;
    const found = filesNamed(this.#root, foldName(name).split('/'));
    return found
      ?.filter((file) => this.#isWanted(file.name))
      .sort(byName)
      .map((file) => new FoundFile(file.name, file.stat, () => this.#indexOf(file.name)));
  }

  #indexOf(name: string): number {
    return this.entries.findIndex((entry) => entry.name === name);
  }

  read(entry: PakEntry): AsyncIterable<Uint8Array> {
    return this.readRange(entry, 0, entry.size);
  }

  async *readRange(entry: PakEntry, offset: number, size: number): AsyncGenerator<Uint8Array> {
    checkPart(entry, offset, size);
    const { name } = entry instanceof FoundFile ? entry : getRow(this.entries, entry);
    const source = await fileSource(join(this.#root, name));
    try {
      yield* readPieces(source, offset, size);
    } finally {
      await source.close();
    }
  }

  async verify(): Promise<PakProblem | undefined> {
    return undefined;
  }
  async hasProof({ size }: PakEntry): Promise<boolean> {
    return size === 0;
  }
  async verifyDirectory(): Promise<PakProblem | undefined> {
    return undefined;
  }
  async close(): Promise<void> {}
}

interface LooseFile {
  name: string;
  stat: fs.Stats;
}

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : 1;
}

/** A file in little memory: there may be hundreds of thousands. */
abstract class LooseEntry implements PakEntry {
  // Declared only: fields cost less so.
  declare readonly name: string;
  declare readonly size: number;
  declare private readonly modifiedMs: number;

  constructor(name: string, { size, mtimeMs }: fs.Stats) {
    this.name = name;
    this.size = size;
    // Dates have no more.
    this.modifiedMs = Math.round(mtimeMs);
  }

  abstract get index(): number;

  get storedSize(): number {
    return this.size;
  }
  get method(): string {
    return 'none';
  }
  get encrypted(): boolean {
    return false;
  }
  get mtime(): Date {
    return new Date(this.modifiedMs);
  }
}

/** One of all files. */
class ListedFile extends LooseEntry {
  index = 0;
}

/** A file that was looked for by its name. Its number is known once all are listed. */
class FoundFile extends LooseEntry {
  readonly #indexOf: () => number;

  constructor(name: string, stat: fs.Stats, indexOf: () => number) {
    super(name, stat);
    this.#indexOf = indexOf;
  }

  get index(): number {
    return this.#indexOf();
  }
}

/**
 * The files that a walk gives under a name when case is ignored: of each folder on the way the names are read, and nothing of what bears another.
 * Undefined where a name there has a back-slash in it, which may stand for the folder that comes next.
 * @param parts of the name, folded
 */
function filesNamed(root: string, parts: readonly string[]): LooseFile[] | undefined {
  let prefixes = [''];
  const files: LooseFile[] = [];
  for (const [depth, part] of parts.entries()) {
    const isLast = depth === parts.length - 1;
    const inner: string[] = [];
    for (const prefix of prefixes) {
      const found: string[] = [];
      for (const { name } of folderEntries(join(root, prefix))) {
        if (name.includes('\\')) return undefined;
        if (name.toLowerCase() === part) found.push(prefix + name);
      }
      for (const path of found) {
        const own = fs.lstatSync(join(root, path), { throwIfNoEntry: false });
        if (!isLast && own?.isDirectory()) inner.push(`${path}/`);
        if (!isLast || !(own?.isFile() || own?.isSymbolicLink())) continue;
        const stat = fs.statSync(join(root, path), { throwIfNoEntry: false });
        if (stat?.isFile()) files.push({ name: path, stat });
      }
    }
    prefixes = inner;
  }
  return files;
}
