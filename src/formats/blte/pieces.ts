/* Bytes that come in pieces, one after the other. */
import { concatBytes } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';

/** Bytes in order, in pieces of any size. */
export type Pieces = AsyncIterable<Uint8Array>;

/** Largest piece that is given out: 4 MiB. */
const maxSliceSize = 0x40_0000;

/** Views of some bytes, none larger than 4 MiB. */
export function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += maxSliceSize) yield bytes.subarray(at, at + maxSliceSize);
}

/** The first piece (empty when there is none), and all pieces with it. */
export async function peekFirst(pieces: Pieces): Promise<{ first: Uint8Array; all: Pieces }> {
  const iterator = pieces[Symbol.asyncIterator]();
  const head = await iterator.next();
  async function* all() {
    try {
      for (let next = head; next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { first: head.done === true ? new Uint8Array(0) : head.value, all: all() };
}

/** The pieces without the first `count` bytes. */
export async function* skipBytes(pieces: Pieces, count: number): AsyncGenerator<Uint8Array> {
  let left = count;
  for await (const piece of pieces) {
    const skipped = Math.min(left, piece.length);
    left -= skipped;
    if (skipped < piece.length) yield piece.subarray(skipped);
  }
}

/** Every piece changed by a function, which sees them in order. */
export async function* mapPieces(
  pieces: Pieces,
  change: (piece: Uint8Array) => Uint8Array,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield change(piece);
}

/** All pieces as one. Throws E_UNSUPPORTED when they are more than `maxSize` bytes. */
export async function collect(pieces: Pieces, maxSize: number, what: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > maxSize) {
      const problem = `${what}: more than ${maxSize} bytes in a mode that is decoded in memory`;
      throw new PakratError('E_UNSUPPORTED', problem, { data: { feature: 'large nested or LZ4 chunk' } });
    }
    parts.push(piece);
  }
  return concatBytes(parts);
}
