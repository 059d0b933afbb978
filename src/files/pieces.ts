import type { ByteSource } from '../core/byte-source.ts';
import { formatError } from '../core/errors.ts';

/** Bytes of a read: large enough for speed, small enough to stay in a processor's cache between reading and hashing. */
export const pieceSize = 0x40000;

/** Throws E_FORMAT_RANGE when a file does not have a part. `size` of the file is in bytes, as is the part. */
export function checkPart(file: { name: string; size: number }, offset: number, size: number): void {
  if (offset >= 0 && size >= 0 && offset + size <= file.size) return;
  throw formatError('E_FORMAT_RANGE', file.name, `has ${file.size} bytes, not ${size} from ${offset}`);
}

/** Some bytes of a source, in pieces. Throws E_FORMAT_TRUNCATED when they are not there. */
export async function* readPieces(source: ByteSource, offset: number, size: number): AsyncGenerator<Uint8Array> {
  for (let done = 0; done < size; done += pieceSize) {
    yield await source.read(offset + done, Math.min(pieceSize, size - done));
  }
}

/** The bytes from `offset` on, `size` of them, of what comes in pieces; stops asking when it has them. */
export async function* slicePieces(
  pieces: AsyncIterable<Uint8Array>,
  offset: number,
  size: number,
): AsyncGenerator<Uint8Array> {
  let at = 0;
  if (size === 0) return;
  for await (const piece of pieces) {
    const from = Math.max(offset - at, 0);
    const to = Math.min(offset + size - at, piece.length);
    if (from < to) yield piece.subarray(from, to);
    at += piece.length;
    if (at >= offset + size) return;
  }
}

/** The same bytes in blocks of one size but the last, each of them memory of its own. */
export async function* inBlocks(pieces: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let block = new Uint8Array(size);
  let filled = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + size - filled);
      block.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < size) continue;
      yield block;
      block = new Uint8Array(size);
      filled = 0;
    }
  }
  if (filled > 0) yield block.slice(0, filled);
}
