/*
 * The body of a '4' chunk. Two descriptions of it exist and no real one was ever seen, so both are read:
 *
 *   wowdev.wiki BLTE:  version u8 = 1 · decoded size u64 BE · block shift u8 · LZ4 blocks, each of 1 << shift decoded
 *                      bytes but the last
 *   cascette-rs:       decoded size u64 LE · one LZ4 block
 */
import { checkLz4Promise, lz4Block, lz4BlockInto } from '../../codecs/compression/lz4.ts';
import { formatError } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';

const minBlockShift = 5;
const maxBlockShift = 30;
const sizeBytes = 8;

interface Lz4Expectation {
  decodedSize: number | undefined;
  maxSize: number;
  what: string;
}

/** Decodes the body of a '4' chunk. Throws E_FORMAT_… as the block decoder, or for a size that differs. */
export function lz4Body(body: Uint8Array, expectation: Lz4Expectation): Uint8Array {
  const blocks = probeBlocks(body, expectation);
  if (blocks !== undefined) return decodeBlocks(body, blocks);
  const size = checkSize(new ByteReader(body, expectation.what).u64le(), expectation);
  return lz4Block(body.subarray(sizeBytes), size);
}

interface Blocks {
  offset: number;
  size: number;
  blockSize: number;
}

/** The header of the first description; undefined when its numbers make no sense, or are not the size that is known. */
function probeBlocks(body: Uint8Array, expectation: Lz4Expectation): Blocks | undefined {
  const offset = 1 + sizeBytes + 1;
  if (body[0] !== 1 || body.length < offset) return undefined;
  const reader = new ByteReader(body, expectation.what, 1);
  const size = Number(reader.u64big());
  const shift = reader.u8();
  if (shift < minBlockShift || shift > maxBlockShift || size !== (expectation.decodedSize ?? size)) return undefined;
  return size > expectation.maxSize ? undefined : { offset, size, blockSize: 2 ** shift };
}

function decodeBlocks(body: Uint8Array, { offset, size, blockSize }: Blocks): Uint8Array {
  checkLz4Promise(body, size);
  const output = new Uint8Array(size);
  let from = offset;
  for (let start = 0; start < size; start += blockSize) {
    from = lz4BlockInto(body, from, { bytes: output, start, end: Math.min(start + blockSize, size) });
  }
  if (from !== body.length) {
    throw formatError('E_FORMAT', 'LZ4 chunk', `${body.length - from} bytes left over`, { offset: from });
  }
  return output;
}

function checkSize(size: number, { decodedSize, maxSize, what }: Lz4Expectation): number {
  if (size !== (decodedSize ?? size)) {
    throw formatError('E_FORMAT', what, 'wrong decoded size', { expected: decodedSize ?? size, found: size });
  }
  if (size > maxSize) throw formatError('E_FORMAT_RANGE', what, `promises ${size} bytes, where ${maxSize} are allowed`);
  return size;
}
