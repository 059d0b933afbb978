import * as fs from 'node:fs';
import { Socket } from 'node:net';
import { concatBytes } from '../../core/bytes.ts';
import { codeOf, PakratError } from '../../core/errors.ts';
import { formatBytes } from '../../core/quantities.ts';
import { reading } from '../read-at.ts';

/*
 * Files that a person names, where a pipe is as good: `<(zcat list.gz)`, /dev/stdin, or one that was made with mkfifo.
 *
 * To open a pipe that nobody writes to yet waits, in a thread that nothing can stop: Ctrl-C would not be heard, or the process not end. So a pipe is opened
 * without waiting, and read as a connection is.
 */

const { O_RDONLY, O_NONBLOCK = 0 } = fs.constants;

/** True for a pipe that a path leads to. */
export function isPipe(path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
}

/** The bytes of a file, or of a pipe as they come. @throws E_NOT_FOUND, E_USAGE for a folder, E_STORE */
export async function* givenPieces(path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of isPipe(path) ? openPipe(path) : fs.createReadStream(path)) yield piece as Uint8Array;
  } catch (error) {
    if (codeOf(error) === 'EISDIR')
      throw new PakratError('E_USAGE', `${path} is a folder, a file is needed`, { data: { path } });
    reading(path, () => {
      throw error;
    });
  }
}

function openPipe(path: string): Socket {
  return new Socket({ fd: fs.openSync(path, O_RDONLY | O_NONBLOCK), readable: true, writable: false });
}

/** Keys, dictionaries and lists that are read whole have some MB at most. */
const mostBytes = 64 << 20;

/** All bytes of a small file, or of a pipe when it ends. @throws as {@link givenPieces}, and E_FORMAT_RANGE for what is larger than any that is meant, or has no end */
export async function readGiven(path: string): Promise<Uint8Array> {
  return gatherAtMost(mostBytes, givenPieces(path), () => {
    const hint = 'No file of this kind has so much: name another.';
    return new PakratError('E_FORMAT_RANGE', `${path} has more than ${formatBytes(mostBytes)}`, {
      hint,
      data: { path },
    });
  });
}

/** All bytes of a stream that may never end. @throws what `tooMany` gives when it has more than so many bytes */
export async function gatherAtMost(
  most: number,
  stream: AsyncIterable<Uint8Array>,
  tooMany: () => PakratError,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of stream) {
    pieces.push(piece);
    size += piece.length;
    if (size > most) throw tooMany();
  }
  return concatBytes(pieces);
}
