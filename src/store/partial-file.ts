import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, PakratError } from '../core/errors.ts';
import { inStore, makeFolders, moveDurable, syncFolder } from '../files/durable.ts';

/** The file in which an object grows, and where it may lie instead. Plain data, for it travels to threads. */
export interface PartialFile {
  file: string;
  /** The other places of the object; what is found there becomes `file` before it is written to. */
  elsewhere?: readonly string[];
}

/** The first of some places that has a file; the first of all when none has. */
export function findFile([first = '', ...others]: readonly string[]): string {
  return [first, ...others].find((file) => fs.existsSync(file)) ?? first;
}

/**
 * Opens the file of an object for reading and writing, and makes it where there is none. All bytes of objects are written through here: a file
 * is never made while the object has one in another place, whoever moves it meanwhile. New names are on disk when it returns.
 * Whoever writes to an object has had `ObjectFiles.prepare` look after its other names before.
 * @throws E_STORE_FULL, E_STORE, also for a file with other names, which may not be written to
 */
export function openPartial({ file, elsewhere = [] }: PartialFile): number {
  return inStore(file, () => {
    for (;;) {
      const opened = unless('ENOENT', () => fs.openSync(file, 'r+'));
      if (opened !== undefined) return demandOwn(opened, file);
      if (elsewhere.some((other) => moveIfThere(other, file))) continue;
      const made = unless('EEXIST', () => createDurable(file));
      if (made !== undefined) return made;
    }
  });
}

/** Somebody may have given the file a second name since it was looked at. */
function demandOwn(fd: number, file: string): number {
  if (fs.fstatSync(fd).nlink <= 1) return fd;
  fs.closeSync(fd);
  throw new PakratError('E_STORE', `${file} has other names (hard links), and is not written to`, {
    hint: 'Run the same command again: it copies the file first.',
    data: { path: file },
  });
}

/** Gives a file another name; both folders are on disk when it returns. @returns false when it is not there @throws E_STORE… */
export function moveIfThere(from: string, to: string): boolean {
  return inStore(from, () => {
    if (!fs.existsSync(from)) return false;
    const moved = unless('ENOENT', () => {
      moveDurable(from, to);
      syncFolder(dirname(from));
      return true;
    });
    return moved === true;
  });
}

/** An empty file needs no flush of its own: there is nothing in it, and what is written later is flushed then. */
function createDurable(file: string): number {
  const folder = dirname(file);
  const folders = makeFolders(folder);
  try {
    return fs.openSync(file, 'wx+');
  } finally {
    // With a journal the first of these brings all of them to disk.
    for (const path of [folder, ...folders.map(dirname)]) syncFolder(path);
  }
}

/** The value of `work`; undefined where the system says this instead. */
function unless<Value>(code: string, work: () => Value): Value | undefined {
  try {
    return work();
  } catch (error) {
    if (codeOf(error) === code) return undefined;
    throw error;
  }
}
