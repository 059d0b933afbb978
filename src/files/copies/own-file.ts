import * as fs from 'node:fs';
import { inStore, makeFolderDurable, moveDurable, syncFile } from '../durable.ts';
import { releaseTemporary, removeTemporary, temporaryName } from '../temporary.ts';
import { cloneFile, copySparse } from './copy-file.ts';
import type { Stretch } from './holes.ts';

/*
 * Two kinds of file are replaced by a copy before bytes of theirs are changed:
 *
 * - One with more than one link is not only ours: its other name may be a file of a mirror that was imported, or of a backup. Nothing is written
 *   into it, and nothing cut off or punched out of it.
 * - Into a block that a broken disk does not give back, a part of it cannot be written: the system would have to read the rest. A new file has
 *   other blocks.
 */

/** The surroundings of a file that is replaced by a copy. */
export interface Replacing {
  /** Folder on the same file system. */
  temporary: string;
  /** Runs work while no other process replaces, moves or owns the file: two that copied it would lose what one of them wrote. */
  alone: (work: () => void) => void;
  /** Told of stretches that a broken disk does not give, which are holes in the copy, before that takes the name. Absent: the file stays as it is, with an error. */
  onLost?: (lost: readonly Stretch[]) => void;
}

/** True for a file that has other names. */
export function hasOtherNames(file: string): boolean {
  return (fs.statSync(file, { throwIfNoEntry: false })?.nlink ?? 0) > 1;
}

/**
 * Sees to it that a file has one name alone before somebody changes its bytes: one with others is replaced by a copy of it, which is on disk when
 * this returns. Holes stay holes. Does nothing for a file that is not there.
 * @throws E_STORE_FULL, E_STORE
 */
export function ownFile(file: string, replacing: Replacing): void {
  while (hasOtherNames(file)) replace(file, replacing, (copy) => (cloneFile(file, copy) ? [] : copySparse(file, copy)));
}

/**
 * Replaces a file into which a broken disk lets nobody write by a copy of what it gives of it, which is on disk when this returns. Nobody may write to it
 * meanwhile.
 * @throws E_STORE_FULL, E_STORE
 */
export function renewFile(file: string, replacing: Replacing): void {
  // A clone would share the broken blocks.
  replace(file, replacing, (copy) => copySparse(file, copy));
}

/** Does nothing where the file was replaced since it was looked at. @param copyTo makes the copy, and tells what is lost */
function replace(
  file: string,
  { temporary, alone, onLost }: Replacing,
  copyTo: (copy: string) => readonly Stretch[],
): void {
  inStore(file, () => {
    const before = fs.statSync(file);
    const copy = temporaryName(temporary);
    try {
      makeFolderDurable(temporary);
      const lost = copyTo(copy);
      // A link may have been of a file that is not to be written.
      fs.chmodSync(copy, 0o644);
      syncFile(copy);
      if (lost.length > 0) {
        if (onLost === undefined) throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
        onLost(lost);
      }
      alone(() => {
        const now = fs.statSync(file, { throwIfNoEntry: false });
        if (now?.ino !== before.ino || now.nlink !== before.nlink) return;
        moveDurable(copy, file);
        releaseTemporary(copy);
      });
    } finally {
      removeTemporary(copy);
    }
  });
}
