import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { brokenHint, codeOf, isDiskBroken, isDiskFull, isPakratError, messageOf, PakratError } from '../core/errors.ts';
import { waitForAll } from '../core/wait-for-all.ts';
import { releaseTemporary, removeTemporary, temporaryName } from './temporary.ts';

/*
 * After a power cut a file's bytes are there when the file was synced, its name when the folder was.
 * So every new name is followed by an fsync of the folder that holds it, and nothing is called held before both.
 */

/** Turns a system error of a write into one of ours: a full disk has its own code, for it needs the user. */
export function storeError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (isDiskFull(error)) return fullError(path, error);
  if (code === 'EFBIG') {
    return new PakratError('E_STORE', `${path} may not become as large as that`, {
      cause: error,
      hint: 'Its file system, or a limit (ulimit -f), allows no larger files.',
      data: { path },
    });
  }
  if (code === 'EMFILE') {
    return new PakratError('E_STORE', `too many files are open: ${path}`, {
      cause: error,
      hint: 'Allow more of them (ulimit -n), and run the same command again.',
      data: { path, system: code },
    });
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new PakratError('E_STORE', `no permission to write ${path}`, { cause: error, data: { path } });
  }
  if (code?.startsWith('E') && code.length < 12 && !code.includes('_')) {
    const hint = isDiskBroken(error) ? { hint: brokenHint } : {};
    const data = { path, system: code };
    return new PakratError('E_STORE', `${path}: ${messageOf(error)}`, { cause: error, data, ...hint });
  }
  return error;
}

/** True for an error of {@link storeError}, or of who reads a file or folder, about a file that a broken disk does not give, or does not let be written: a part of a block that it does not give it does not take, either. */
export function isSpoilt(error: unknown): error is PakratError {
  return isPakratError(error) && isDiskBroken({ code: error.data.system });
}

/** Runs work on a file of the store. @throws as {@link storeError} says */
export function inStore<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw storeError(error, path);
  }
}

/** The error of a full disk. */
export function fullError(path: string, cause: unknown): PakratError {
  const problem = codeOf(cause) === 'EDQUOT' ? 'the disk quota is used up' : 'the disk is full';
  return new PakratError('E_STORE_FULL', `${problem}: ${path}`, {
    cause,
    hint: 'Free some space and run the same command again: what was fetched stays.',
    data: { path },
  });
}

/** Flushes a folder's names to disk. A no-op where folders cannot be opened (Windows). */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  withFile(folder, 'r', fs.fsyncSync);
}

// Windows flushes only what may be written; elsewhere a link may be of a file that may not.
const flushable = process.platform === 'win32' ? 'r+' : 'r';

/** Flushes a file's bytes to disk; its name is not looked after. */
export function syncFile(file: string): void {
  withFile(file, flushable, fs.fsyncSync);
}

/** Files that are open at once to be flushed. */
const flushedAtOnce = 8;

/** As {@link syncFile}, for several, many at a time, while the event loop turns. @throws as {@link storeError} says */
export async function syncFiles(files: readonly string[]): Promise<void> {
  for (let i = 0; i < files.length; i += flushedAtOnce)
    await waitForAll(...files.slice(i, i + flushedAtOnce).map(flushFile));
}

/** Removes a file, if it is there; it stays away after a power cut. */
export function removeDurable(file: string): void {
  if (!fs.existsSync(file)) return;
  fs.rmSync(file);
  syncFolder(dirname(file));
}

/** Cuts a file off where it is longer than a size, and flushes it to disk. */
export function truncateDurable(file: string, size: number): void {
  withFile(file, 'r+', (fd) => {
    if (fs.fstatSync(fd).size > size) fs.ftruncateSync(fd, size);
    fs.fsyncSync(fd);
  });
}

function withFile(path: string, flags: 'r' | 'r+', work: (fd: number) => void): void {
  const fd = fs.openSync(path, flags);
  try {
    work(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Makes a folder and those above it; the new names are on disk when it returns. */
export function makeFolderDurable(folder: string): void {
  // With a journal the first of these brings all of them to disk.
  for (const path of makeFolders(folder)) syncFolder(dirname(path));
}

/** Makes a folder and those above it, without a flush. @returns those that were not there, the upper ones first @throws as {@link storeError} says */
export function makeFolders(folder: string): string[] {
  const missing: string[] = [];
  for (let at = folder; !fs.existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.unshift(at);
  for (const path of missing) {
    try {
      fs.mkdirSync(path);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw storeError(error, path);
    }
  }
  return missing;
}

/** Moves a complete, flushed file to its final name, durably; makes the folder when needed. */
export function moveDurable(from: string, to: string): void {
  makeFolderDurable(dirname(to));
  fs.renameSync(from, to);
  syncFolder(dirname(to));
}

/**
 * Moves complete, flushed files to their final names, durably, and makes the folders: these are on disk before a name is in them, and the new names before
 * the old ones are gone for good. Many share the waits for the disk. @throws as {@link storeError} says
 */
export function moveFilesDurable(moves: readonly { from: string; to: string }[]): void {
  const folders = new Set(moves.map(({ to }) => dirname(to)));
  const made = Array.from(folders, makeFolders).flat();
  syncFolders(made.map(dirname));
  for (const { from, to } of moves) inStore(to, () => fs.renameSync(from, to));
  syncFolders(folders);
  syncFolders(moves.map(({ from }) => dirname(from)));
}

function syncFolders(folders: Iterable<string>): void {
  for (const folder of new Set(folders)) inStore(folder, () => syncFolder(folder));
}

/** Writes all bytes at a position; a short write goes on where it stopped. */
export function writeAll(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += fs.writeSync(fd, bytes, done, bytes.length - done, position + done);
  }
}

/** A temporary file that is written and read again, and never gets a name of its own. */
export interface TemporaryFile {
  readonly name: string;
  readonly fd: number;
}

/** Opens one for this user alone; the folder is made when it is not there. @param prefix as temporaryName has it @throws E_STORE_FULL, E_STORE */
export function openTemporary(folder: string, prefix: '' | '.pakrat-' = ''): TemporaryFile {
  const name = temporaryName(folder, prefix);
  return inStore(name, () => {
    makeFolderDurable(folder);
    return { name, fd: fs.openSync(name, 'wx+', 0o600) };
  });
}

/** Closes and removes one. */
export function closeTemporary({ name, fd }: TemporaryFile): void {
  fs.closeSync(fd);
  removeTemporary(name);
}

/** Pieces that are smaller wait until they are this much; at first little, for most files are small. */
const bufferBytes = 1 << 20;
const firstBufferBytes = 1 << 14;

/**
 * A file that is there whole or not at all, whatever happens: it grows under a temporary name, and gets its own when all of it is on disk.
 * Needs `close`, which removes what was not finished. Every method throws E_STORE_FULL on a full disk, E_STORE on other write errors.
 */
export class DurableFile {
  /** Bytes that were appended. */
  size = 0;
  readonly #name: string;
  readonly #fd: number;
  #buffer: Buffer = Buffer.allocUnsafe(0);
  #waiting = 0;

  /** @param temporary folder on the same file system for the temporary name */
  constructor(temporary: string) {
    this.#name = temporaryName(temporary);
    this.#fd = inStore(this.#name, () => {
      makeFolderDurable(temporary);
      return fs.openSync(this.#name, 'wx');
    });
  }

  append(bytes: Uint8Array): void {
    if (this.#waiting + bytes.length > this.#buffer.length) this.#makeRoom();
    if (bytes.length > this.#buffer.length) {
      this.#write(bytes, this.size);
    } else {
      this.#buffer.set(bytes, this.#waiting);
      this.#waiting += bytes.length;
    }
    this.size += bytes.length;
  }

  #makeRoom(): void {
    // Whoever fills it comes with more.
    const room = this.#waiting === 0 ? firstBufferBytes : bufferBytes;
    this.#flush();
    if (this.#buffer.length < room) this.#buffer = Buffer.allocUnsafe(room);
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = 0;
    if (waiting > 0) this.#write(this.#buffer.subarray(0, waiting), this.size - waiting);
  }

  #write(bytes: Uint8Array, position: number): void {
    inStore(this.#name, () => writeAll(this.#fd, bytes, position));
  }

  /** Brings all of it to disk, under its name. @param head written over the first bytes, where these are known last */
  finish(path: string, head?: Uint8Array): void {
    this.#flush();
    if (head !== undefined) this.#write(head, 0);
    inStore(path, () => fs.fsyncSync(this.#fd));
    this.#move(path);
  }

  /** As {@link finish}, while the event loop turns. */
  async finishMeanwhile(path: string): Promise<void> {
    this.#flush();
    await flush(this.#fd, path);
    this.#move(path);
  }

  #move(path: string): void {
    inStore(path, () => {
      moveDurable(this.#name, path);
      releaseTemporary(this.#name);
    });
  }

  close(): void {
    fs.closeSync(this.#fd);
    removeTemporary(this.#name);
  }
}

/** Writes a file as {@link DurableFile} says. @param temporary folder on the same file system @throws E_STORE_FULL, E_STORE */
export function writeFileDurable(path: string, bytes: Uint8Array, temporary: string): void {
  const file = new DurableFile(temporary);
  try {
    file.append(bytes);
    file.finish(path);
  } finally {
    file.close();
  }
}

/**
 * Writes several small files, each of which is there whole or not at all. They are flushed side by side, so that they share the waits for the disk, and
 * the event loop turns meanwhile. Where it throws, some may have their names already.
 * @param temporary folder on the same file system @throws E_STORE_FULL, E_STORE
 */
export async function writeFilesDurable(
  files: readonly { path: string; bytes: Uint8Array }[],
  temporary: string,
): Promise<void> {
  const open: { fd: number; name: string; path: string }[] = [];
  try {
    for (const { path, bytes } of files) {
      const name = temporaryName(temporary);
      inStore(path, () => {
        makeFolderDurable(temporary);
        const fd = fs.openSync(name, 'wx');
        open.push({ fd, name, path });
        writeAll(fd, bytes, 0);
      });
    }
    await waitForAll(...open.map(({ fd, path }) => flush(fd, path)));
    const folders = new Set(open.map(({ path }) => dirname(path)));
    const made = [...folders].flatMap((folder) => inStore(folder, () => makeFolders(folder)));
    await waitForAll(...Array.from(new Set(made.map(dirname)), flushFolder));
    for (const { name, path } of open) {
      inStore(path, () => fs.renameSync(name, path));
      releaseTemporary(name);
    }
    await waitForAll(...Array.from(folders, flushFolder));
  } finally {
    for (const { fd, name } of open) {
      fs.closeSync(fd);
      removeTemporary(name);
    }
  }
}

/** As {@link syncFolder}, while the event loop turns. */
async function flushFolder(folder: string): Promise<void> {
  if (process.platform !== 'win32') await flushFile(folder);
}

async function flushFile(file: string): Promise<void> {
  const fd = inStore(file, () => fs.openSync(file, flushable));
  try {
    await flush(fd, file);
  } finally {
    fs.closeSync(fd);
  }
}

function flush(fd: number, path: string): Promise<void> {
  return new Promise((done, failed) => {
    fs.fsync(fd, (error) => (error === null ? done() : failed(storeError(error, path))));
  });
}
