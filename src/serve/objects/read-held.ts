import * as fs from 'node:fs';
import { isFileLost, isNoFile, resultUnless } from '../../core/errors.ts';
import { openPlain } from '../../files/read-at.ts';
import type { Store } from '../../store/store.ts';

const atOnceBytes = 64 * 1024;

/** Bytes that were read, and the end to which the object was held behind that. */
export interface HeldBytes {
  size: number;
  until: number;
}

/**
 * Reads bytes of an object from `at` on, as far as they are held and fit. The ledger is asked behind the read: what is given back leaves it before it
 * leaves the disk, so bytes that are held still were there. The file is opened for each read, for it may be replaced or moved between two.
 * @param range.until the end to which the object was held when that was last asked
 * @returns no bytes when the first is not held, or not held any more
 * @throws E_STORE…; errors of the file system as they come
 */
export async function readHeld(
  store: Store,
  path: string,
  { at, until, into }: { at: number; until: number; into: Buffer },
): Promise<HeldBytes> {
  const most = Math.min(into.length, until - at);
  const fd = most > 0 ? openObject(store, path) : undefined;
  if (fd === undefined) return { size: 0, until: heldUntil(store, path, at) };
  try {
    const bytesRead = await read(fd, into, most, at);
    const now = heldUntil(store, path, at);
    return { size: Math.min(bytesRead, now - at), until: now };
  } finally {
    fs.closeSync(fd);
  }
}

/** Most objects that are asked for are whole, and lie in their places. A file there of which a broken disk gives the name alone is not the object. */
function openObject({ files, file }: Store, path: string): number | undefined {
  const open = (name: string): number => openPlain(name).fd;
  return resultUnless(isFileLost, () => open(files.inPlace(path))) ?? resultUnless(isNoFile, () => open(file(path)));
}

/**
 * The one step that may wait for a disk. A little is read at once: to hand it to another thread and back takes longer than to copy it, and what clients
 * ask for in small ranges has mostly been read before.
 */
function read(fd: number, into: Buffer, size: number, at: number): Promise<number> | number {
  if (size <= atOnceBytes) return fs.readSync(fd, into, 0, size, at);
  return new Promise((resolve, reject) => {
    fs.read(fd, into, 0, size, at, (error, bytesRead) => (error === null ? resolve(bytesRead) : reject(error)));
  });
}

/** The end to which an object is held from an offset on. */
export function heldUntil({ ledger }: Store, path: string, at: number): number {
  return ledger.served.reach(path, at)?.end ?? at;
}
