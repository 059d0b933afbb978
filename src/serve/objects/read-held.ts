import * as fs from 'node:fs';
import { isNoFile, valueUnless } from '../../core/errors.ts';
import type { Store } from '../../store/store.ts';

/**
 * Reads bytes of an object from `at` on, as far as they are held and fit. The ledger is asked before and behind the read: what is given back leaves it
 * before it leaves the disk, so bytes that are held still were there. The file is opened for each read, for it may be replaced or moved between two.
 * @returns the bytes read; 0 when the first is not held, or not held any more
 * @throws E_STORE…; errors of the file system as they come
 */
export async function readHeld(store: Store, path: string, range: { at: number; into: Buffer }): Promise<number> {
  const { at, into } = range;
  const size = heldFrom(store, path, at, into.length);
  if (size === 0) return 0;
  const file = await valueUnless(isNoFile, fs.promises.open(store.file(path), 'r'));
  try {
    const { bytesRead = 0 } = (await file?.read(into, 0, size, at)) ?? {};
    return Math.min(bytesRead, heldFrom(store, path, at, bytesRead));
  } finally {
    await file?.close();
  }
}

/** The number of bytes that are held from an offset on, at most `most`. */
export function heldFrom({ ledger }: Store, path: string, at: number, most: number): number {
  return Math.min((ledger.reach(path, at)?.end ?? at) - at, most);
}
