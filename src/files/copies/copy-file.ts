import * as fs from 'node:fs';
import { isAllZero } from '../../core/bytes.ts';
import { isDiskBroken, isDiskFull, resultUnless } from '../../core/errors.ts';
import { writeAll } from '../durable.ts';
import { openPlain } from '../read-at.ts';
import { blockBytes, type Stretch } from './holes.ts';

/** Copies a file so that both share their bytes on disk until one is changed. @returns false where the file system cannot do that */
export function cloneFile(from: string, to: string): boolean {
  try {
    fs.copyFileSync(from, to, fs.constants.COPYFILE_FICLONE_FORCE | fs.constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    fs.rmSync(to, { force: true });
    // Anything else may be how a file system says that it does not know this; a plain copy meets real trouble again.
    if (isDiskFull(error)) throw error;
    return false;
  }
}

const pieceBytes = 1 << 20;
/** Blocks of zeros are not written: most file systems keep a hole in their place. */
const sparseBytes = 1 << 16;

/**
 * Copies a file to a name that is free; where it has holes, or zeros only, the copy has holes.
 * @returns the stretches that a broken disk does not give, which are holes in the copy
 */
export function copySparse(from: string, to: string): Stretch[] {
  const { fd: source, size: end } = openPlain(from);
  try {
    const target = fs.openSync(to, 'wx');
    try {
      const lost: Stretch[] = [];
      const piece = Buffer.allocUnsafe(pieceBytes);
      let at = 0;
      while (at < end) {
        const size = readPiece(source, piece, at);
        if (size === 0) break;
        const next = size === undefined ? Math.min(diskBlockEnd(at), end) : at + size;
        if (size === undefined) lost.push({ start: at, end: next });
        else writeBlocks(target, piece.subarray(0, size), at);
        at = next;
      }
      fs.ftruncateSync(target, at);
      return lost;
    } finally {
      fs.closeSync(target);
    }
  } finally {
    fs.closeSync(source);
  }
}

function diskBlockEnd(at: number): number {
  return at - (at % blockBytes) + blockBytes;
}

/** Reads what lies at a place, or the beginning of it. @returns how much; undefined where a broken disk does not give even one block of it */
function readPiece(fd: number, piece: Uint8Array, at: number): number | undefined {
  const read = (size: number): number | undefined =>
    resultUnless(isDiskBroken, () => fs.readSync(fd, piece, 0, size, at));
  // What is broken may lie behind the first block.
  return read(piece.length) ?? read(diskBlockEnd(at) - at);
}

function writeBlocks(fd: number, piece: Uint8Array, at: number): void {
  for (let start = 0; start < piece.length; start += sparseBytes) {
    const block = piece.subarray(start, start + sparseBytes);
    if (!isAllZero(block)) writeAll(fd, block, at + start);
  }
}
