import * as fs from 'node:fs';
import { codeOf } from '../../core/errors.ts';
import { getEntry } from '../names/find-entry.ts';
import type { Source, SourceEntry } from '../source.ts';
import type { FileTree, FolderNames, TreeFile } from './file-tree.ts';
import { openRangeReader, type RangeReader } from './range-reader.ts';

/** Answers of a file system: 0 or more is success, less an error number of the system. */
type Answer<Value = never, More = never> = (code: number, value?: Value, more?: More) => void;

interface Stat {
  mode: number;
  size: number;
  mtime: Date;
  atime: Date;
  ctime: Date;
  nlink: number;
  uid: number;
  gid: number;
}

/** What a FUSE library is told of a file system, as far as it is only read. */
export interface Operations {
  /** Names of a folder, with the kind of each. */
  readdir(path: string, answer: Answer<string[], Pick<Kinds, 'map'>>): void;
  getattr(path: string, answer: Answer<Stat>): void;
  /** Answers with a handle. */
  open(path: string, flags: number, answer: Answer<number>): void;
  read(path: string, handle: number, buffer: Buffer, size: number, offset: number, answer: Answer): void;
  release(path: string, handle: number, answer: Answer): void;
}

const errorNumbers = { ENOENT: -2, EIO: -5, EBADF: -9, EACCES: -13, EROFS: -30 } as const;
const folderMode = 0o40555;
const fileMode = 0o100444;
const started = new Date();
const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];

/** The file system's operations over a tree. */
export function operations(source: Source, tree: FileTree): Operations {
  const readers = new Map<number, RangeReader>();
  const entries = new KeptEntries(source);
  let lastHandle = 0;
  return {
    readdir(path, answer) {
      attempt(answer, async () => {
        const names = tree.namesIn(path);
        if (names === undefined) return answer(errorNumbers.ENOENT);
        // With the kind of each, `find` and `ls -R` need not ask about every file: that is a way through the system for each.
        answer(0, names.folders.concat(names.files), new Kinds(names));
      });
    },
    getattr(path, answer) {
      attempt(answer, async () => {
        const node = tree.find(path);
        if (node === undefined) answer(errorNumbers.ENOENT);
        else answer(0, node === 'folder' ? folderStat() : await entries.stat(node));
      });
    },
    open(path, flags, answer) {
      attempt(answer, async () => {
        const node = tree.find(path);
        if (node === undefined || node === 'folder') return answer(errorNumbers.ENOENT);
        if ((flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) !== 0) return answer(errorNumbers.EROFS);
        const reader = openRangeReader(source, await entries.get(node));
        lastHandle += 1;
        readers.set(lastHandle, reader);
        answer(0, lastHandle);
      });
    },
    read(_path, handle, buffer, size, offset, answer) {
      const reader = readers.get(handle);
      if (reader === undefined) return answer(errorNumbers.EBADF);
      reader.read(offset, size).then((bytes) => {
        buffer.set(bytes);
        answer(bytes.length);
      }, failing(answer));
    },
    release(_path, handle, answer) {
      const reader = readers.get(handle);
      readers.delete(handle);
      if (reader === undefined) answer(0);
      else reader.close().then(() => answer(0), failing(answer));
    },
  };
}

/** Does work that answers; where it fails the answer is {@link failing}. */
function attempt(answer: Answer, work: () => Promise<void>): void {
  work().catch(failing(answer));
}

/** The error that a program sees: it lacks the right to read, or the data is bad. */
function failing(answer: Answer): (error: unknown) => void {
  return (error) => answer(codeOf(error) === 'E_KEY_MISSING' ? errorNumbers.EACCES : errorNumbers.EIO);
}

/** What a listing says of a name: of all this the system takes the kind alone. */
const folderKind = statOf({ mode: folderMode, nlink: 1 });
const fileKind = statOf({ mode: fileMode, nlink: 1 });

/**
 * The kinds of the names in a folder, those of folders first, for a library that maps them all to memory of its own: 300 bytes each, of which a folder of millions
 * needs two.
 */
class Kinds {
  readonly #folders: number;
  readonly #files: number;

  constructor({ folders, files }: FolderNames) {
    this.#folders = folders.length;
    this.#files = files.length;
  }

  map<Value>(make: (stat: Stat) => Value): Value[] {
    const kinds = new Array<Value>(this.#folders + this.#files);
    return kinds.fill(make(folderKind), 0, this.#folders).fill(make(fileKind), this.#folders);
  }
}

function statOf({ mode, nlink, size = 0, mtime = started }: Pick<Stat, 'mode' | 'nlink'> & Partial<Stat>): Stat {
  return { mode, size, nlink, mtime, atime: mtime, ctime: mtime, uid, gid };
}

function folderStat(): Stat {
  return statOf({ mode: folderMode, nlink: 2 });
}

/** Files that are kept once they were asked for: who asks what one is mostly opens it then. */
const mostKept = 256;

/** The files of a source that were asked for last. */
class KeptEntries {
  readonly #source: Source;
  /** By their places in the tree; that which was asked for first comes first. */
  readonly #entries = new Map<number, Promise<SourceEntry>>();
  /** Sizes that nothing told. */
  readonly #sizes = new Map<number, Promise<number>>();

  constructor(source: Source) {
    this.#source = source;
  }

  get({ at, other, index }: TreeFile): Promise<SourceEntry> {
    return kept(this.#entries, at, () => getEntry(this.#source, { name: other, index }), mostKept);
  }

  /** A size that nothing tells is found by decoding, once. */
  async stat(file: TreeFile): Promise<Stat> {
    const entry = await this.get(file);
    const size = entry.size ?? (await kept(this.#sizes, file.at, () => this.#decodedSize(entry)));
    return statOf({ mode: fileMode, nlink: 1, size, mtime: entry.mtime ?? started });
  }

  async #decodedSize(entry: SourceEntry): Promise<number> {
    let size = 0;
    for await (const piece of this.#source.read(entry)) size += piece.length;
    return size;
  }
}

/** What is kept for a key, or else is made, and kept unless that fails. */
function kept<Value>(
  all: Map<number, Promise<Value>>,
  key: number,
  make: () => Promise<Value>,
  most = Number.POSITIVE_INFINITY,
): Promise<Value> {
  const known = all.get(key);
  if (known !== undefined) return known;
  const made = make();
  all.set(key, made);
  made.catch(() => all.delete(key));
  const [first] = all.size > most ? all.keys() : [];
  if (first !== undefined) all.delete(first);
  return made;
}
