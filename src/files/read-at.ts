import * as fs from 'node:fs';
import { codeOf, formatError, isPakratError, messageOf, PakratError } from '../core/errors.ts';

/** Exactly `size` bytes at `offset` of an open file. Throws E_FORMAT_TRUNCATED when they are not there. */
export function readAt(fd: number, offset: number, size: number, what: string): Uint8Array {
  const bytes = Buffer.allocUnsafe(size);
  readInto(fd, bytes, { offset, what });
  return bytes;
}

/** As {@link readAt}, into bytes that are there: as many as they are. */
export function readInto(fd: number, bytes: Uint8Array, { offset, what }: { offset: number; what: string }): void {
  for (let done = 0; done < bytes.length; ) {
    const more = fs.readSync(fd, bytes, done, bytes.length - done, offset + done);
    if (more === 0)
      throw formatError('E_FORMAT_TRUNCATED', what, `the file ends ${bytes.length - done} bytes early`, { offset });
    done += more;
  }
}

/** Runs work that reads a file or folder. @throws E_NOT_FOUND when it is not there, E_STORE when the system refuses it */
export function reading<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (isPakratError(error)) throw error;
    const missing = codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
    const options = { data: { path }, cause: error };
    if (missing) throw new PakratError('E_NOT_FOUND', `there is no ${path}`, options);
    throw new PakratError('E_STORE', `${path}: ${messageOf(error)}`, options);
  }
}
