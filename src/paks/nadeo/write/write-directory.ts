import { PakratError } from '../../../core/errors.ts';
import { type DirectoryRecords, type FolderRecord, fileFlag } from '../directory/directory.ts';
import { hashedName, storedPath } from '../directory/names.ts';
import type { NadeoPackFile } from './write-files.ts';

/**
 * The folders and files of a directory, in the order given; sizes, offsets and classes are still to be filled in.
 * @throws E_USAGE when a file is not below the folder below which it is to be hashed
 */
export function planDirectory(files: readonly NadeoPackFile[]): DirectoryRecords {
  const folders: FolderRecord[] = [];
  const indices = new Map<string, number>([['', -1]]);
  const folderIndex = (path: string): number => {
    const known = indices.get(path);
    if (known !== undefined) return known;
    const cut = path.lastIndexOf('\\', path.length - 2) + 1;
    const parent = folderIndex(path.slice(0, cut));
    indices.set(path, folders.length);
    return folders.push({ parent, name: path.slice(cut) }) - 1;
  };
  const records = files.map((file) => {
    const { folder, name, flags } = placeOf(file);
    return {
      folder: folderIndex(folder),
      name,
      unknown: 0xffffffff,
      size: file.size,
      compressedSize: 0,
      offset: 0,
      classId: file.classId ?? 0,
      flags,
    };
  });
  return { folders, files: records };
}

/** Folder with its trailing backslash, and the name in it. */
function placeOf({ name, hashedBelow }: NadeoPackFile): { folder: string; name: string; flags: bigint } {
  const path = storedPath(name);
  if (hashedBelow === undefined) {
    const cut = path.lastIndexOf('\\') + 1;
    return { folder: path.slice(0, cut), name: path.slice(cut), flags: 0n };
  }
  const folder = hashedBelow === '' ? '' : `${storedPath(hashedBelow).replace(/\\+$/, '')}\\`;
  if (!path.startsWith(folder)) {
    throw new PakratError('E_USAGE', `${name} is to be hashed below ${hashedBelow}, but does not stand there`);
  }
  return { folder, name: hashedName(path.slice(folder.length)), flags: fileFlag.isHashed };
}
