import * as fs from 'node:fs';
import { codeOf } from '../../../core/errors.ts';
import { cloneFile } from '../../../files/copies/copy-file.ts';
import { inStore, makeFolderDurable, syncFiles, writeAll } from '../../../files/durable.ts';
import { removeTemporary, temporaryName } from '../../../files/temporary.ts';
import type { Store } from '../../../store/store.ts';

/** The kind of copy: one that shares its bytes until either is changed, or another name of the same file. */
export type CopyKind = 'clone' | 'link';

/** A whole object, and its size in the end: what is behind it goes. */
interface WholeCopy {
  kind: CopyKind;
  /** Where it comes from. */
  file: string;
  path: string;
  size: number;
}

/** A copy of a whole object that has no place yet. */
export interface Copy {
  /** `bytes`: it shares nothing. */
  kind: CopyKind | 'bytes';
  /** Its temporary name. */
  from: string;
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
  const from = makeCopy(store, kind, file);
  if (from === undefined) return 'cannot';
  try {
    if (!(await isRight(from))) return 'wrong';
    await placeFiles(store, [{ kind, from, path, size }]);
    return 'placed';
  } finally {
    removeTemporary(from);
  }
}

/** Copies a file into the store without reading it. @returns its temporary name; undefined where the file systems do not do this @throws E_STORE… */
export function makeCopy(store: Store, kind: CopyKind, file: string): string | undefined {
  return temporaryFile(store, (copy) => (kind === 'link' ? linkFile(file, copy) : cloneFile(file, copy)));
}

/** Writes bytes into the store. @returns the temporary name of their file @throws E_STORE… */
export function writeCopy(store: Store, bytes: Uint8Array): string {
  const write = (copy: string): true => {
    const fd = fs.openSync(copy, 'wx');
    try {
      writeAll(fd, bytes, 0);
    } finally {
      fs.closeSync(fd);
    }
    return true;
  };
  return temporaryFile(store, write) as string;
}

/** A temporary file that `make` makes. @returns its name; undefined, and nothing is left, when it says that it did not */
function temporaryFile({ layout }: Store, make: (file: string) => boolean): string | undefined {
  const file = temporaryName(layout.temporary);
  let isMade = false;
  try {
    isMade = inStore(file, () => {
      makeFolderDurable(layout.temporary);
      return make(file);
    });
    return isMade ? file : undefined;
  } finally {
    if (!isMade) removeTemporary(file);
  }
}

/** Gives copies that are right their places; they share the waits for the disk. The caller holds the claims on the objects, and removes temporary names. @throws E_STORE… */
export async function placeFiles({ files }: Store, copies: readonly Copy[]): Promise<void> {
  for (const { kind, from, size } of copies) {
    if (kind !== 'clone') continue;
    inStore(from, () => {
      fs.chmodSync(from, 0o644);
      if (fs.statSync(from).size > size) fs.truncateSync(from, size);
    });
  }
  await syncFiles(copies.map(({ from }) => from));
  files.place(copies);
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
