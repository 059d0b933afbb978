/*
 * LZ4 blocks without a frame. A block is a row of sequences:
 *
 *   token          u8     high half: literal count, low half: match length - 4; 15 means that more bytes follow,
 *                         each added to it, until one is not 255
 *   literals       bytes  copied as they are
 *   match offset   u16 LE how far back in the output the match starts, 1 or more; the last sequence ends before it
 *
 * (LZ4 block format description, lz4.org)
 */
import { formatError, type PakratError } from '../../core/errors.ts';

const what = 'LZ4 block';
const minMatch = 4;
/** A byte of a long match adds at most 255 bytes of output. */
const maxRatio = 255;

/**
 * Decodes one block that gives exactly `size` bytes.
 * @throws E_FORMAT_RANGE when it would give more or reaches back too far, E_FORMAT_TRUNCATED when it ends early,
 *   E_FORMAT for bytes behind its end
 */
export function lz4Block(bytes: Uint8Array, size: number): Uint8Array {
  checkLz4Promise(bytes, size);
  const output = new Uint8Array(size);
  const end = lz4BlockInto(bytes, 0, { bytes: output, start: 0, end: size });
  if (end !== bytes.length)
    throw formatError('E_FORMAT', what, `${bytes.length - end} bytes left over`, { offset: end });
  return output;
}

/** Refuses a size that the input cannot give, before it is allocated. Throws E_FORMAT_RANGE. */
export function checkLz4Promise(bytes: Uint8Array, size: number): void {
  if (size > bytes.length * maxRatio) {
    throw formatError('E_FORMAT_RANGE', what, `${bytes.length} bytes cannot hold the promised ${size}`);
  }
}

/** The stretch that a block is decoded to. Matches may reach back before `start`: into earlier blocks, or a dictionary put there. */
export interface Lz4Target {
  bytes: Uint8Array;
  start: number;
  end: number;
}

/** Decodes the block at `offset` until the target is full; gives the offset behind it. Throws as {@link lz4Block}. */
export function lz4BlockInto(bytes: Uint8Array, offset: number, target: Lz4Target): number {
  const { bytes: output, end } = target;
  let from = offset;
  let to = target.start;
  const longLength = (start: number): number => {
    if (start < 15) return start;
    for (let length = start; ; ) {
      if (from >= bytes.length) throw truncated(from);
      const more = bytes[from++]!;
      length += more;
      if (more !== 255) return length;
    }
  };
  for (;;) {
    if (from >= bytes.length) throw truncated(from);
    const token = bytes[from++]!;
    const literals = longLength(token >>> 4);
    if (literals > bytes.length - from) throw truncated(from);
    if (literals > end - to) throw overfull(from);
    output.set(bytes.subarray(from, from + literals), to);
    from += literals;
    to += literals;
    if (to === end) return from;
    if (from + 2 > bytes.length) throw truncated(from);
    const distance = bytes[from]! | (bytes[from + 1]! << 8);
    from += 2;
    if (distance === 0 || distance > to) {
      throw formatError('E_FORMAT_RANGE', what, `match reaches back ${distance} of ${to} bytes`, { offset: from - 2 });
    }
    const length = longLength(token & 15) + minMatch;
    if (length > end - to) throw overfull(from);
    copyMatch(output, to, { distance, length });
    to += length;
  }
}

function copyMatch(output: Uint8Array, to: number, { distance, length }: { distance: number; length: number }): void {
  if (distance >= length) {
    output.copyWithin(to, to - distance, to - distance + length);
    return;
  }
  // The match overlaps what it makes, so it has to be copied byte by byte, forwards.
  for (let i = to; i < to + length; i++) output[i] = output[i - distance]!;
}

function truncated(offset: number): PakratError {
  return formatError('E_FORMAT_TRUNCATED', what, 'ends early', { offset });
}

function overfull(offset: number): PakratError {
  return formatError('E_FORMAT_RANGE', what, 'holds more than was promised', { offset });
}
