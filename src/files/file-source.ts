import * as fs from 'node:fs';
import { checkRange } from '../core/byte-source.ts';
import { codeOf, messageOf, PakratError } from '../core/errors.ts';
import type { FillingSource } from './scratch.ts';

/**
 * A file as a source. Reads are synchronous underneath: from a warm cache a small read takes about ten
 * microseconds, where the asynchronous call takes several times that, and PAKs are read in thousands of small pieces.
 * @throws E_NOT_FOUND when there is no such file, E_STORE when it cannot be opened or is no plain file
 */
export async function fileSource(path: string): Promise<FillingSource> {
  const fd = attempt(path, () => fs.openSync(path, 'r'));
  let size: number;
  try {
    size = plainFileSize(fd, path);
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
  let isOpen = true;
  return {
    name: path,
    size,
    async read(offset, length) {
      checkRange({ name: path, size }, offset, length);
      // A plain array, not a Buffer, whose `slice` would not copy.
      const { buffer, byteOffset } = Buffer.allocUnsafe(length);
      const bytes = new Uint8Array(buffer, byteOffset, length);
      attempt(path, () => fillFrom(fd, offset, bytes));
      return bytes;
    },
    async readInto(target, offset) {
      checkRange({ name: path, size }, offset, target.length);
      attempt(path, () => fillFrom(fd, offset, target));
    },
    async close() {
      if (isOpen) fs.closeSync(fd);
      isOpen = false;
    },
  };
}

function plainFileSize(fd: number, path: string): number {
  const stat = fs.fstatSync(fd);
  if (!stat.isFile()) throw new PakratError('E_STORE', `${path} is no plain file`, { data: { path } });
  return stat.size;
}

function fillFrom(fd: number, offset: number, target: Uint8Array): void {
  for (let done = 0; done < target.length; ) {
    const more = fs.readSync(fd, target, done, target.length - done, offset + done);
    if (more === 0) {
      throw new PakratError(
        'E_FORMAT_TRUNCATED',
        `the file became ${target.length - done} bytes shorter while it was read`,
      );
    }
    done += more;
  }
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (codeOf(error)?.startsWith('E_')) throw error;
    const missing = codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
    throw new PakratError(missing ? 'E_NOT_FOUND' : 'E_STORE', `${path}: ${messageOf(error)}`, {
      data: { path },
      cause: error,
    });
  }
}
