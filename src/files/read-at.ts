import * as fs from 'node:fs';
import {
  brokenHint,
  codeOf,
  formatError,
  isDiskBroken,
  isFileLost,
  isNoFile,
  isPakratError,
  isSystemError,
  messageOf,
  PakratError,
  resultUnless,
} from '../core/errors.ts';
import type { ReusedBytes } from '../core/tables/large-bytes.ts';

/** Exactly `size` bytes at `offset` of an open file. Throws E_FORMAT_TRUNCATED when they are not there. */
export function readAt(fd: number, offset: number, size: number, what: string): Uint8Array {
  const bytes = Buffer.allocUnsafe(size);
  readInto(fd, bytes, { offset, what });
  return bytes;
}

/** As {@link readAt}, into bytes that are there: as many as they are. */
export function readInto(fd: number, bytes: Uint8Array, { offset, what }: { offset: number; what: string }): void {
  const done = readUpTo(fd, bytes, offset);
  if (done < bytes.length)
    throw formatError('E_FORMAT_TRUNCATED', what, `the file ends ${bytes.length - done} bytes early`, { offset });
}

/** Fills bytes from `offset` on, as far as the file goes. Returns how many there are. One call may give less than there is, as of a network drive. */
export function readUpTo(fd: number, bytes: Uint8Array, offset: number): number {
  let done = 0;
  while (done < bytes.length) {
    const more = fs.readSync(fd, bytes, done, bytes.length - done, offset + done);
    if (more === 0) break;
    done += more;
  }
  return done;
}

const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = fs.constants;

/**
 * Opens a file to read it. To open a pipe waits for somebody to write, in vain mostly, and Ctrl-C is not heard.
 * @param noFollow refuse a link with ELOOP
 * @throws errors of the system as they come; for a folder, a pipe or the like EISDIR, which all who miss a file take for none
 */
export function openPlain(file: string, noFollow?: 'noFollow'): { fd: number; size: number } {
  const fd = fs.openSync(file, O_RDONLY | O_NONBLOCK | (noFollow === undefined ? 0 : O_NOFOLLOW));
  try {
    return { fd, size: sizeOfPlain(fd) };
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

/** The size of an open file. @throws as {@link openPlain} says for what is none */
export function sizeOfPlain(fd: number): number {
  const stat = fs.fstatSync(fd);
  if (stat.isFile()) return stat.size;
  throw Object.assign(new Error('it is no plain file'), { code: 'EISDIR' });
}

/** The size of a plain file, or of that to which a link leads; undefined where there is none, not even a folder for it, or a broken disk does not say. */
export function sizeOfFile(file: string): number | undefined {
  const stat = resultUnless(isFileLost, () => fs.statSync(file, { throwIfNoEntry: false }));
  return stat?.isFile() === true ? stat.size : undefined;
}

/** True where a broken disk gives the name of a file alone: it can be neither opened, moved nor replaced, and looks as if it were not there. */
export function isNameAlone(file: string): boolean {
  try {
    fs.lstatSync(file, { throwIfNoEntry: false });
    return false;
  } catch (error) {
    return isDiskBroken(error);
  }
}

/** Lets work read a file at positions, and closes it. Throws as {@link openPlain} and {@link readAt}, and what the work throws. */
export function withReads<Result>(
  file: string,
  work: (read: (offset: number, size: number) => Uint8Array, fd: number) => Result,
): Result {
  const { fd } = openPlain(file);
  try {
    return work((offset, size) => readAt(fd, offset, size, file), fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** All bytes of a file, in memory that nobody else has. That of many is taken once: a copy of the index of an archive may be 50 MB. Throws as {@link openPlain} and {@link readAt}. */
export function readOwn(file: string): Uint8Array {
  const { fd, size } = openPlain(file);
  try {
    const bytes = new Uint8Array(size);
    readInto(fd, bytes, { offset: 0, what: file });
    return bytes;
  } finally {
    fs.closeSync(fd);
  }
}

/** All bytes of a file, there until something else is taken of the memory. Throws as {@link openPlain} and {@link readAt}. */
export function readWhole(file: string, memory: ReusedBytes): Uint8Array {
  const { fd, size } = openPlain(file);
  try {
    const bytes = memory.take(size);
    readInto(fd, bytes, { offset: 0, what: file });
    return bytes;
  } finally {
    fs.closeSync(fd);
  }
}

/** Pieces that are still in the caches when they are looked at. */
const pieceBytes = 256 << 10;

/**
 * Reads stretches of a file that mostly lie one behind the other, a piece at a time, into memory that is used again: thousands of small
 * stretches cost a few calls, and large ones no memory of their own.
 */
export class ReadAhead {
  readonly #fd: number;
  #memory: Uint8Array;
  /** The place of what is in the memory. */
  #start = 0;
  #end = 0;

  /** @param end where the last of them ends */
  constructor(fd: number, end: number) {
    this.#fd = fd;
    this.#memory = new Uint8Array(Math.min(pieceBytes, end));
  }

  /**
   * Exactly `size` bytes at `offset`, good until the next are read.
   * @throws E_FORMAT_TRUNCATED when they are not there, and errors of the system as they come
   */
  read(offset: number, size: number, what: string): Uint8Array {
    if (offset < this.#start || offset + size > this.#end) this.#fill(offset, size, what);
    return this.#memory.subarray(offset - this.#start, offset - this.#start + size);
  }

  #fill(offset: number, size: number, what: string): void {
    if (size > this.#memory.length) this.#memory = new Uint8Array(size);
    // What an error leaves there is nothing that was read.
    this.#end = this.#start;
    const ahead = this.#readAhead(offset);
    if (ahead < size) readInto(this.#fd, this.#memory.subarray(ahead, size), { offset: offset + ahead, what });
    this.#start = offset;
    this.#end = offset + Math.max(ahead, size);
  }

  /** What cannot be read may lie behind what is asked for. */
  #readAhead(offset: number): number {
    try {
      return fs.readSync(this.#fd, this.#memory, 0, this.#memory.length, offset);
    } catch {
      return 0;
    }
  }
}

/** Runs work that reads a file or folder. @throws E_NOT_FOUND when it is not there, E_STORE when the system refuses it */
export function reading<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (isPakratError(error)) throw error;
    const missing = codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
    if (missing) throw new PakratError('E_NOT_FOUND', `there is no ${path}`, { data: { path }, cause: error });
    const hint = isDiskBroken(error) ? { hint: brokenHint } : {};
    const data = { path, system: codeOf(error) };
    throw new PakratError('E_STORE', `${path}: ${messageOf(error)}`, { data, cause: error, ...hint });
  }
}

/** As {@link reading}, for the file of an object that a store or a folder has: where a folder or a pipe lies there, it has none. */
export function readingObject<Result>(path: string, work: () => Result): Result {
  return reading(path, () => {
    try {
      return work();
    } catch (error) {
      if (codeOf(error) !== 'EISDIR') throw error;
      throw new PakratError('E_NOT_FOUND', `${path} is no plain file`, { data: { path }, cause: error });
    }
  });
}

/** Runs work that reads a file: bytes that a broken disk, or a lack of permission, does not give are the fault of the file, and so is what is no plain file; one that is gone by now is not there. @throws E_INTEGRITY, E_NOT_FOUND */
export function readable<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (codeOf(error) === 'EISDIR')
      throw new PakratError('E_INTEGRITY', 'it is no plain file', { data: { file }, cause: error });
    if (isNoFile(error)) throw new PakratError('E_NOT_FOUND', 'it is gone by now', { data: { file }, cause: error });
    throw new PakratError('E_INTEGRITY', `it cannot be read: ${messageOf(error)}`, { data: { file }, cause: error });
  }
}

/** Entries of a folder that the system is asked for at a time. */
const askedAtOnce = 256;

/** The entries directly in a folder, in no order: however many they are, in little memory. @throws E_NOT_FOUND, E_STORE */
export function* folderEntries(folder: string): Generator<fs.Dirent> {
  const opened = reading(folder, () => fs.opendirSync(folder, { bufferSize: askedAtOnce }));
  const next = (): fs.Dirent | null => reading(folder, () => opened.readSync());
  try {
    for (let entry = next(); entry !== null; entry = next()) yield entry;
  } finally {
    opened.closeSync();
  }
}
