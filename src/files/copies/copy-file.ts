import * as fs from 'node:fs';
import { isAllZero } from '../../core/bytes.ts';
import { codeOf } from '../../core/errors.ts';
import { writeAll } from '../durable.ts';
import { openPlain } from '../read-at.ts';

/** Copies a file so that both share their bytes on disk until one is changed. @returns false where the file system cannot do that */
export function cloneFile(from: string, to: string): boolean {
  try {
    fs.copyFileSync(from, to, fs.constants.COPYFILE_FICLONE_FORCE | fs.constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    fs.rmSync(to, { force: true });
    // Anything else may be how a file system says that it does not know this; a plain copy meets real trouble again.
    if (['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '')) throw error;
    return false;
  }
}

const pieceBytes = 1 << 20;
/** Blocks of zeros are not written: most file systems keep a hole in their place. */
const blockBytes = 1 << 16;

/** Copies a file to a name that is free; where it has holes, or zeros only, the copy has holes. */
export function copySparse(from: string, to: string): void {
  const { fd: source } = openPlain(from);
  try {
    const target = fs.openSync(to, 'wx');
    try {
      const piece = Buffer.allocUnsafe(pieceBytes);
      let at = 0;
      for (let size = fs.readSync(source, piece, 0, pieceBytes, at); size > 0; ) {
        for (let start = 0; start < size; start += blockBytes) {
          const block = piece.subarray(start, Math.min(start + blockBytes, size));
          if (!isAllZero(block)) writeAll(target, block, at + start);
        }
        at += size;
        size = fs.readSync(source, piece, 0, pieceBytes, at);
      }
      fs.ftruncateSync(target, at);
    } finally {
      fs.closeSync(target);
    }
  } finally {
    fs.closeSync(source);
  }
}
