import { cleanName } from '../../names.ts';
import type { PakEntry } from '../../pak.ts';
import { isEncrypted, mayHaveFeedback, methodOf, storedSize } from '../entries/entry-reader.ts';
import type { PrivateHeader } from '../header/private-header.ts';
import { type FileRecord, fileFlag, folderPaths } from './directory.ts';
import { hashedName, isHashedName, type NameBook, storedPath } from './names.ts';

/** A row of a NadeoPak. */
export interface NadeoEntry extends PakEntry {
  /** Folder and name as stored, with backslashes; the name may be a hash. */
  readonly storedPath: string;
  /** True when the stored name is a hash of the real one. */
  readonly isHashed: boolean;
  /** Class of the file in the game's engine: 0x09041000 is text. */
  readonly classId: number;
  /** The flags as stored, in hex. */
  readonly flags: string;
  readonly mayBeUnsure: boolean;
}

/** The files of a pack as rows, with the real names that a book has for hashed ones. */
export class EntryList {
  readonly #files: readonly FileRecord[];
  readonly #dataOffset: number;
  readonly #version: number;
  readonly #folders: readonly string[];
  readonly #book: NameBook;
  readonly #isKeyProven: boolean;
  #rows: readonly NadeoEntry[];
  #byPath: Map<string, NadeoEntry> | undefined;

  /** Throws E_FORMAT..., for folders that contain themselves. */
  constructor(
    header: PrivateHeader | undefined,
    { version, book, isKeyProven }: { version: number; book: NameBook; isKeyProven: boolean },
  ) {
    this.#files = header?.files ?? [];
    this.#dataOffset = header?.dataOffset ?? 0;
    this.#folders = folderPaths(header?.folders ?? []);
    this.#version = version;
    this.#book = book;
    this.#isKeyProven = isKeyProven;
    this.#rows = this.#list();
  }

  get rows(): readonly NadeoEntry[] {
    return this.#rows;
  }

  /** Number of hashed names whose real name is known. */
  get resolvedCount(): number {
    return this.#rows.filter(({ isHashed, storedPath: stored, name }) => isHashed && name !== cleanName(stored)).length;
  }

  /** Takes over what the book has learnt. @returns how many names are new */
  refresh(): number {
    const before = this.resolvedCount;
    this.#rows = this.#list();
    this.#byPath = undefined;
    return this.resolvedCount - before;
  }

  /** A file by stored or real path, of either slash; case counts only where it tells files apart. */
  find(name: string): NadeoEntry | undefined {
    this.#byPath ??= pathMap(this.#rows);
    const byPath = this.#byPath;
    const path = storedPath(cleanName(name));
    const found = byPath.get(path) ?? byPath.get(path.toLowerCase());
    if (found !== undefined) return found;
    // It may be stored under the hash of what the path says below one of its folders.
    for (let at = 0; ; ) {
      const hashed = byPath.get((path.slice(0, at) + hashedName(path.slice(at))).toLowerCase());
      if (hashed !== undefined) return hashed;
      const next = path.indexOf('\\', at);
      if (next < 0) return undefined;
      at = next + 1;
    }
  }

  /** The name that a file has in its folder, or undefined where only its hash is known. */
  knownName(file: FileRecord): string | undefined {
    return isHashedFile(file) ? this.#book.find(file.name) : file.name;
  }

  /** The whole path of a file, the real one where it is known. */
  realPath(file: FileRecord): string {
    return this.#folderOf(file) + (this.knownName(file) ?? file.name);
  }

  #folderOf({ folder }: FileRecord): string {
    return this.#folders[folder] ?? '';
  }

  #list(): NadeoEntry[] {
    const firsts = new Map<string, number>();
    return this.#files.map((file, index) => {
      const path = this.#folderOf(file) + file.name;
      const name = cleanName(this.realPath(file));
      const isHashed = isHashedFile(file);
      const listed = cleanName(path);
      const first = firsts.get(listed);
      if (first === undefined) firsts.set(listed, index);
      return {
        index,
        name,
        size: file.size,
        storedSize: storedSize(file, this.#version),
        offset: this.#dataOffset + file.offset,
        method: methodOf(file, this.#version),
        encrypted: isEncrypted(file),
        hidden: first === undefined ? undefined : 'shadowed',
        note: noteOf({ first, isHashed, isResolved: name !== listed }),
        storedPath: path,
        isHashed,
        classId: file.classId,
        flags: `0x${file.flags.toString(16)}`,
        mayBeUnsure: (isEncrypted(file) && !this.#isKeyProven) || mayHaveFeedback(file, this.knownName(file)),
      };
    });
  }
}

function isHashedFile({ flags, name }: FileRecord): boolean {
  return (flags & fileFlag.isHashed) !== 0n || isHashedName(name);
}

function noteOf(facts: { first: number | undefined; isHashed: boolean; isResolved: boolean }): string | undefined {
  if (facts.first !== undefined) return `same path as file ${facts.first}, which is found by name`;
  if (!facts.isHashed) return undefined;
  return facts.isResolved ? 'stored under a hash' : 'name is a hash';
}

/** Entries by stored and real path, as they are and in lower case; the first one with a path has it. */
function pathMap(entries: readonly NadeoEntry[]): Map<string, NadeoEntry> {
  const map = new Map<string, NadeoEntry>();
  const add = (path: string, entry: NadeoEntry) => {
    if (!map.has(path)) map.set(path, entry);
  };
  for (const entry of entries) for (const path of [entry.storedPath, storedPath(entry.name)]) add(path, entry);
  for (const entry of entries) {
    for (const path of [entry.storedPath, storedPath(entry.name)]) add(path.toLowerCase(), entry);
  }
  return map;
}
