import * as fs from 'node:fs';
import { inStore, makeFolderDurable, moveDurable, syncFile } from '../durable.ts';
import { releaseTemporary, removeTemporary, temporaryName } from '../temporary.ts';
import { cloneFile, copySparse } from './copy-file.ts';

/*
 * A file with more than one link is not only ours: its other name may be a file of a mirror that was imported, or of a backup. Nothing is written
 * into it, and nothing cut off or punched out of it. It is copied first, and the copy takes its name.
 */

/** True for a file that has other names. */
export function hasOtherNames(file: string): boolean {
  return (fs.statSync(file, { throwIfNoEntry: false })?.nlink ?? 0) > 1;
}

/**
 * Sees to it that a file has one name alone before somebody changes its bytes: one with others is replaced by a copy of it, which is on disk when
 * this returns. Holes stay holes. Does nothing for a file that is not there.
 * @param temporary folder on the same file system
 * @param alone runs work while no other process replaces, moves or owns the file: two that copied it would lose what one of them wrote
 * @throws E_STORE_FULL, E_STORE
 */
export function ownFile(file: string, temporary: string, alone: (work: () => void) => void): void {
  while (hasOtherNames(file)) {
    inStore(file, () => {
      const before = fs.statSync(file);
      const copy = temporaryName(temporary);
      try {
        makeFolderDurable(temporary);
        copyDurable(file, copy);
        alone(() => {
          const now = fs.statSync(file, { throwIfNoEntry: false });
          if (now?.ino !== before.ino || now.nlink < 2) return;
          moveDurable(copy, file);
          releaseTemporary(copy);
        });
      } finally {
        removeTemporary(copy);
      }
    });
  }
}

/** Copies a file to a name that is free; its bytes are on disk when it returns. */
function copyDurable(from: string, to: string): void {
  if (!cloneFile(from, to)) copySparse(from, to);
  // A link may have been of a file that is not to be written.
  fs.chmodSync(to, 0o644);
  syncFile(to);
}
