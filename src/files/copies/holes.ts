import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { breathe } from '../../core/breathe.ts';
import { abortError, codeOf, isDiskBroken, resultUnless } from '../../core/errors.ts';
import {
  inStore,
  makeFolderDurable,
  moveDurable,
  syncFile,
  syncFolder,
  truncateDurable,
  writeAll,
} from '../durable.ts';
import { removeTemporary, temporaryName } from '../temporary.ts';

/*
 * The bytes of a file that nobody needs any more go back to the file system in one of two ways:
 *
 *   punched    the blocks are taken out of the file where it is. Node has no call for that: `fallocate` of util-linux takes one hole a process.
 *   rewritten  what is left is copied to a sparse file that takes the place of the old one. It needs room for the copy, and works everywhere.
 */

/** An interval of a file. */
export interface Stretch {
  start: number;
  end: number;
}

/** The work that copying takes, in bytes, for which one hole is punched in the same time: 10 ms. */
const bytesOfHole = 2 * 1024 * 1024;
const copyBytes = 1024 * 1024;
/** Room that a copy leaves on the disk. */
const spareBytes = 8 * 1024 * 1024;

let canPunch: boolean | undefined;

interface FreeOptions {
  /** Folder on the same file system. */
  temporary: string;
  signal?: AbortSignal | undefined;
  /** Gives the copy the name of the file, or leaves both where that is not to be any more. */
  replace: (copy: string) => void;
}

/**
 * Gives the bytes of a file back that are in none of the stretches that are left, which are in order and apart. Whoever reads what is left sees
 * nothing of it. Nobody may write to the file meanwhile. The end of the file moves to that of the last stretch.
 * @throws E_STORE_FULL where it can neither be punched nor copied, E_STORE, E_ABORTED
 */
export async function freeBytes(file: string, left: readonly Stretch[], options: FreeOptions): Promise<void> {
  const { temporary, signal } = options;
  const stat = inStore(file, () => fs.statSync(file));
  const end = left.at(-1)?.end ?? 0;
  const holes = holesBetween(left, end);
  const leftBytes = left.reduce((sum, { start, end }) => sum + end - start, 0);
  // Another name of the file is somebody else's.
  const isOwn = stat.nlink === 1;
  const isCheapToPunch = holes.length * bytesOfHole <= leftBytes;
  if (isOwn && (isCheapToPunch || !hasRoom(temporary, leftBytes))) {
    inStore(file, () => truncateDurable(file, end));
    if (await punch(file, holes, signal)) return;
  }
  await rewrite(file, left, options);
}

/** File systems keep bytes in blocks of this size, nearly all of them. */
export const blockBytes = 4096;

/** Bytes that files take on the disk, without their holes. One that is not there, or that a broken disk gives the name alone of, takes none. */
export function diskBytesOf(files: readonly string[]): number {
  const blocksOf = (file: string): number | undefined =>
    resultUnless(isDiskBroken, () => fs.statSync(file, { throwIfNoEntry: false }))?.blocks;
  return files.reduce((sum, file) => sum + (blocksOf(file) ?? 0) * 512, 0);
}

function holesBetween(left: readonly Stretch[], end: number): Stretch[] {
  const holes: Stretch[] = [];
  let at = 0;
  for (const stretch of [...left, { start: end, end }]) {
    if (stretch.start > at) holes.push({ start: at, end: stretch.start });
    at = stretch.end;
  }
  return holes;
}

function hasRoom(folder: string, bytes: number): boolean {
  return inStore(folder, () => {
    makeFolderDurable(folder);
    const { bavail, bsize } = fs.statfsSync(folder);
    return bavail * bsize > bytes + spareBytes;
  });
}

/** @returns false where the system has no such program, or the file system no holes */
async function punch(file: string, holes: readonly Stretch[], signal: AbortSignal | undefined): Promise<boolean> {
  if (holes.length === 0) return true;
  if (canPunch === false) return false;
  const { execFile } = await import('node:child_process');
  const run = promisify(execFile);
  for (const { start, end } of holes) {
    await breathe(signal);
    try {
      await run('fallocate', ['--punch-hole', '--offset', `${start}`, '--length', `${end - start}`, file], { signal });
      canPunch = true;
    } catch (error) {
      if (signal?.aborted) throw abortError();
      // It is not there, or it says why it cannot.
      if (codeOf(error) !== 'ENOENT' && typeof (error as { code?: unknown }).code !== 'number') throw error;
      canPunch = false;
      return false;
    }
  }
  inStore(file, () => syncFile(file));
  return true;
}

async function rewrite(
  file: string,
  left: readonly Stretch[],
  { temporary, signal, replace }: FreeOptions,
): Promise<void> {
  const copy = temporaryName(temporary);
  try {
    inStore(copy, () => makeFolderDurable(temporary));
    const [from, to] = inStore(copy, () => [fs.openSync(file, 'r'), fs.openSync(copy, 'wx')] as const);
    try {
      const piece = Buffer.allocUnsafe(copyBytes);
      for (const { start, end } of left) {
        for (let at = start; at < end; ) {
          await breathe(signal);
          const size = inStore(file, () => fs.readSync(from, piece, 0, Math.min(piece.length, end - at), at));
          if (size === 0) break;
          inStore(copy, () => writeAll(to, piece.subarray(0, size), at));
          at += size;
        }
      }
      inStore(copy, () => fs.fsyncSync(to));
    } finally {
      fs.closeSync(from);
      fs.closeSync(to);
    }
    replace(copy);
  } finally {
    removeTemporary(copy);
  }
}

/** Gives a copy the name of a file; the name is on disk when it returns. */
export function replaceFile(copy: string, file: string): void {
  inStore(file, () => {
    moveDurable(copy, file);
    syncFolder(dirname(copy));
  });
}
