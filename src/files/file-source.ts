import * as fs from 'node:fs';
import { checkRange } from '../core/byte-source.ts';
import { PakratError } from '../core/errors.ts';
import { openPlain, readInto, reading } from './read-at.ts';
import type { FillingSource } from './scratch.ts';

/**
 * A file as a source. Reads are synchronous underneath: from a warm cache a small read takes about ten
 * microseconds, where the asynchronous call takes several times that, and PAKs are read in thousands of small pieces.
 * @throws E_NOT_FOUND when there is no such file, E_STORE when it cannot be opened or is no plain file
 */
export async function fileSource(path: string): Promise<FillingSource> {
  return openedSource(
    path,
    reading(path, () => openPlain(path)),
  );
}

/** As {@link fileSource}, of a file that is open; it is closed with the source. */
export function openedSource(path: string, { fd, size }: { fd: number; size: number }): FillingSource {
  let isOpen = true;
  // The number of a file that was closed may be that of another by now.
  const fill = (target: Uint8Array, offset: number): void => {
    if (!isOpen) throw new PakratError('E_USAGE', `${path} is closed`, { data: { path } });
    reading(path, () => readInto(fd, target, { offset, what: path }));
  };
  return {
    name: path,
    size,
    async read(offset, length) {
      checkRange({ name: path, size }, offset, length);
      // A plain array, not a Buffer, whose `slice` would not copy.
      const { buffer, byteOffset } = Buffer.allocUnsafe(length);
      const bytes = new Uint8Array(buffer, byteOffset, length);
      fill(bytes, offset);
      return bytes;
    },
    readInto(target, offset) {
      checkRange({ name: path, size }, offset, target.length);
      fill(target, offset);
    },
    async close() {
      const wasOpen = isOpen;
      isOpen = false;
      if (wasOpen) fs.closeSync(fd);
    },
  };
}
