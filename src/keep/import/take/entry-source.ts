import * as fs from 'node:fs';
import { PakratError } from '../../../core/errors.ts';
import { openPlain, readAt, readable } from '../../../files/read-at.ts';
import type { ArchiveEntry } from '../../store-checks.ts';

/** Entries of an object, as a folder has them. Needs `close`. */
export interface EntrySource {
  /** They are not encrypted, whatever the CDN does with the object: an installed game has them so. */
  isPlain?: boolean;
  /** Bytes of an entry from the first on that are there; 0 where it has none. */
  held(entry: ArchiveEntry): number;
  /** Bytes as they lie there; `offset` counts from the start of the entry. @throws E_FORMAT_TRUNCATED, E_INTEGRITY where they cannot be read */
  read(entry: ArchiveEntry, offset: number, size: number): Uint8Array;
  close(): void;
}

/** The largest tables of version services and builds that are read: they have some kB. */
export const mostTableBytes = 1 << 20;

/** Opens a plain file that was found, and no link. @throws E_INTEGRITY where it cannot be read, or is none, E_NOT_FOUND */
export function openFound(file: string): { fd: number; size: number } {
  return readable(file, () => openPlain(file, 'noFollow'));
}

/** All bytes of a plain file. @throws E_FORMAT_RANGE for one that is too large, E_INTEGRITY where it cannot be read */
export function readPlain(file: string, maxSize: number): Uint8Array {
  const { fd, size } = openFound(file);
  try {
    if (size > maxSize) throw new PakratError('E_FORMAT_RANGE', `${size} bytes are too many for it`);
    return readable(file, () => readAt(fd, 0, size, file));
  } finally {
    fs.closeSync(fd);
  }
}

/** The entries of an archive in a file of its own. @throws as openFound */
export function archiveFile(file: string): EntrySource {
  const { fd, size } = openFound(file);
  return {
    held: ({ offset, size: entrySize }) => Math.max(0, Math.min(entrySize, size - offset)),
    read: ({ offset }, from, length) => readable(file, () => readAt(fd, offset + from, length, file)),
    close: () => fs.closeSync(fd),
  };
}

/** The size of a plain file. @throws as openFound */
export function plainSize(file: string): number {
  const { fd, size } = openFound(file);
  fs.closeSync(fd);
  return size;
}
