import * as fs from 'node:fs';
import { formatError } from '../core/errors.ts';

/** Exactly `size` bytes at `offset` of an open file. Throws E_FORMAT_TRUNCATED when they are not there. */
export function readAt(fd: number, offset: number, size: number, what: string): Uint8Array {
  const bytes = Buffer.allocUnsafe(size);
  for (let done = 0; done < size; ) {
    const more = fs.readSync(fd, bytes, done, size - done, offset + done);
    if (more === 0)
      throw formatError('E_FORMAT_TRUNCATED', what, `the file ends ${size - done} bytes early`, { offset });
    done += more;
  }
  return bytes;
}
