import * as fs from 'node:fs';
import { codeOf } from '../../core/errors.ts';
import type { Source, SourceEntry } from '../source.ts';
import { type FileTree, findInTree, isTreeFolder, type TreeFolder } from './file-tree.ts';
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
  readdir(path: string, answer: Answer<string[], Stat[]>): void;
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

/** The file system's operations over a tree. */
export function operations(source: Source, tree: FileTree): Operations {
  const readers = new Map<number, RangeReader>();
  let lastHandle = 0;
  return {
    readdir(path, answer) {
      const node = findInTree(tree, path);
      if (node === undefined || !isTreeFolder(node)) return answer(errorNumbers.ENOENT);
      // With the kind of each, `find` and `ls -R` need not ask about every file: that is a way through the system for each.
      const kinds: Stat[] = [];
      for (const _ of node.folders) kinds.push(folderKind);
      for (const _ of node.files) kinds.push(fileKind);
      answer(0, [...node.folders.keys(), ...node.files.keys()], kinds);
    },
    getattr(path, answer) {
      const node = findInTree(tree, path);
      if (node === undefined) return answer(errorNumbers.ENOENT);
      statOf(source, node).then((stat) => answer(0, stat), failing(answer));
    },
    open(path, flags, answer) {
      const node = findInTree(tree, path);
      if (node === undefined || isTreeFolder(node)) return answer(errorNumbers.ENOENT);
      if ((flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) !== 0) return answer(errorNumbers.EROFS);
      lastHandle += 1;
      readers.set(lastHandle, openRangeReader(source, node));
      answer(0, lastHandle);
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

/** The error that a program sees: it lacks the right to read, or the data is bad. */
function failing(answer: Answer): (error: unknown) => void {
  return (error) => answer(codeOf(error) === 'E_KEY_MISSING' ? errorNumbers.EACCES : errorNumbers.EIO);
}

/** What a listing says of a name: of all this the system takes the kind alone. */
const folderKind = kindOf(folderMode);
const fileKind = kindOf(fileMode);

function kindOf(mode: number): Stat {
  return { mode, size: 0, nlink: 1, mtime: started, atime: started, ctime: started, uid: 0, gid: 0 };
}

const sizes = new WeakMap<SourceEntry, number>();

async function statOf(source: Source, node: TreeFolder | SourceEntry): Promise<Stat> {
  const isFolder = isTreeFolder(node);
  const time = (isFolder ? undefined : node.mtime) ?? started;
  return {
    mode: isFolder ? folderMode : fileMode,
    size: isFolder ? 0 : await sizeOf(source, node),
    nlink: isFolder ? 2 : 1,
    mtime: time,
    atime: time,
    ctime: time,
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
  };
}

/** A size that nothing tells is found by decoding, once. */
async function sizeOf(source: Source, entry: SourceEntry): Promise<number> {
  let size = entry.size ?? sizes.get(entry);
  if (size !== undefined) return size;
  size = 0;
  for await (const piece of source.read(entry)) size += piece.length;
  sizes.set(entry, size);
  return size;
}
