import * as fs from 'node:fs';
import { toHex } from '../../../core/bytes.ts';
import { readAt } from '../../../files/read-at.ts';
import { openFound } from '../take/entry-source.ts';
import type { ScatteredEntries } from '../take/scattered-entries.ts';
import type { FoundFile } from './found-files.ts';

/** Entries in a file each, by their names. One is open at a time: there may be very many. Needs `close`. */
export function fragmentFiles(files: readonly FoundFile[]): ScatteredEntries {
  const byKey = new Map(files.map((file) => [file.name.hash, file]));
  let open: { file: string; fd: number } | undefined;
  const close = (): void => {
    const fd = open?.fd;
    open = undefined;
    if (fd !== undefined) fs.closeSync(fd);
  };
  return {
    isPlain: false,
    find(ekey) {
      const found = byKey.get(toHex(ekey));
      if (found === undefined) return undefined;
      const { file, size } = found;
      return {
        size,
        read(offset, length) {
          if (open?.file !== file) {
            close();
            open = { file, fd: openFound(file).fd };
          }
          return readAt(open.fd, offset, length, file);
        },
      };
    },
    close,
  };
}
