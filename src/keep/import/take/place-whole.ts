import * as fs from 'node:fs';
import { codeOf } from '../../../core/errors.ts';
import { cloneFile } from '../../../files/copies/copy-file.ts';
import { inStore, makeFolderDurable, moveDurable, syncFile, truncateDurable } from '../../../files/durable.ts';
import { releaseTemporary, removeTemporary, temporaryName } from '../../../files/temporary.ts';
import { clearWay } from '../../../store/clear-way.ts';
import type { Store } from '../../../store/store.ts';

/** The kind of copy: one that shares its bytes until either is changed, or another name of the same file. */
export type CopyKind = 'clone' | 'link';

/** A copy of a whole object, and its size in the end: what is behind it goes. */
export interface WholeCopy {
  kind: CopyKind;
  /** Where it comes from. */
  file: string;
  path: string;
  size: number;
}

/**
 * Copies a file into the store without reading it, has it checked, and gives it its place. The caller holds the claim on the object.
 * @param isRight looks at the file that will be the store's own
 * @returns `cannot` where the file systems do not do this, `wrong` when it was not right: nothing was changed then
 * @throws E_STORE…
 */
export async function placeWhole(
  store: Store,
  { kind, file, path, size }: WholeCopy,
  isRight: (copy: string) => Promise<boolean>,
): Promise<'placed' | 'cannot' | 'wrong'> {
  const copy = temporaryName(store.layout.temporary);
  try {
    inStore(copy, () => makeFolderDurable(store.layout.temporary));
    const isMade = inStore(copy, () => (kind === 'link' ? linkFile(file, copy) : cloneFile(file, copy)));
    if (!isMade) return 'cannot';
    if (!(await isRight(copy))) return 'wrong';
    inStore(path, () => {
      if (kind === 'clone') {
        fs.chmodSync(copy, 0o644);
        truncateDurable(copy, size);
      } else syncFile(copy);
      moveToPlace(store, copy, path);
    });
    store.files.complete([{ path, size }]);
    return 'placed';
  } finally {
    removeTemporary(copy);
  }
}

/** A link of a link would be a link: only a plain file is taken. */
function linkFile(file: string, to: string): boolean {
  try {
    fs.linkSync(file, to);
    return fs.lstatSync(to).isFile();
  } catch (error) {
    if (['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EACCES'].includes(codeOf(error) ?? ''))
      return false;
    throw error;
  }
}

/** A rename between two names of one file does nothing: what a kill left of the same link is removed first. */
function moveToPlace({ files, layout }: Store, copy: string, path: string): void {
  clearWay(layout, path);
  const { file } = files.partial(path);
  const { ino } = fs.statSync(copy);
  for (const place of [file, files.inPlace(path)])
    if (fs.statSync(place, { throwIfNoEntry: false })?.ino === ino) fs.rmSync(place);
  moveDurable(copy, file);
  releaseTemporary(copy);
}
