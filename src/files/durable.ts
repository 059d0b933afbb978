import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { threadId } from 'node:worker_threads';
import { codeOf, messageOf, PakratError } from '../core/errors.ts';

/*
 * What is on disk after a power cut: a file's bytes after fsync of the file, its name after fsync of the folder.
 * So every new name is followed by an fsync of the folder that holds it, and nothing is called held before both.
 */

/** Turns a system error of a write into one of ours: a full disk has its own code, for it needs the user. */
export function storeError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return fullError(path, error);
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new PakratError('E_STORE', `no permission to write ${path}`, { cause: error, data: { path } });
  }
  if (code?.startsWith('E') && code.length < 12 && !code.includes('_')) {
    return new PakratError('E_STORE', `${path}: ${messageOf(error)}`, { cause: error, data: { path } });
  }
  return error;
}

/** The error of a full disk. */
export function fullError(path: string, cause: unknown): PakratError {
  return new PakratError('E_STORE_FULL', `the disk is full: ${path}`, {
    cause,
    hint: 'Free some space and run the same command again: what was fetched stays.',
    data: { path },
  });
}

/** Flushes a folder's names to disk. A no-op where folders cannot be opened (Windows). */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const fd = fs.openSync(folder, 'r');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Makes a folder and those above it; each new name is flushed to disk. */
export function makeFolderDurable(folder: string): void {
  if (fs.existsSync(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolderDurable(parent);
  try {
    fs.mkdirSync(folder);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw storeError(error, folder);
  }
  syncFolder(parent);
}

/** Moves a complete, flushed file to its final name, durably; makes the folder when needed. */
export function moveDurable(from: string, to: string): void {
  makeFolderDurable(dirname(to));
  fs.renameSync(from, to);
  syncFolder(dirname(to));
}

let serial = 0;

/** A name in `folder` that no other process, thread or call uses. */
export function temporaryName(folder: string): string {
  serial += 1;
  return `${folder}/${process.pid}-${threadId}-${Date.now().toString(36)}-${serial}.tmp`;
}

/**
 * Writes a file so that it is there whole or not at all, whatever happens: temporary name, flush, rename, flush of the folder.
 * @param temporary folder on the same file system for the temporary name
 * @throws E_STORE_FULL on a full disk, E_STORE on other write errors
 */
export function writeFileDurable(path: string, bytes: Uint8Array, temporary: string): void {
  const name = temporaryName(temporary);
  try {
    makeFolderDurable(temporary);
    const fd = fs.openSync(name, 'wx');
    try {
      writeAll(fd, bytes, 0);
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    moveDurable(name, path);
  } catch (error) {
    fs.rmSync(name, { force: true });
    throw storeError(error, path);
  }
}

/** Writes all bytes at a position; a short write goes on where it stopped. */
export function writeAll(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += fs.writeSync(fd, bytes, done, bytes.length - done, position + done);
  }
}
