/*
 * Every compressed block is whole in itself: a zlib stream with its header, a gzip file, a zstd frame, a raw LZ4 block, or
 * raw Oodle data. (zlib and Oodle checked on real files.)
 */

import * as zlib from 'node:zlib';
import { gunzip, inflate } from '../../../codecs/compression/inflate.ts';
import { lz4Block } from '../../../codecs/compression/lz4.ts';
import { loadOodle } from '../../../codecs/compression/oodle.ts';
import { formatError, isPakratError, messageOf, PakratError, resultUnless } from '../../../core/errors.ts';

/** Decodes a block into exactly `size` bytes. `what` names it in errors. */
export type BlockDecoder = (bytes: Uint8Array, size: number, what: string) => Uint8Array;

/**
 * The decoder of a method.
 * @param oodle path of a module that decodes Oodle in place of the optional package
 * @throws E_UNSUPPORTED for a method that cannot be decoded, with what is missing
 */
export async function blockDecoder(method: string, oodle?: string): Promise<BlockDecoder> {
  const known = decoders[method];
  if (known !== undefined) return known;
  // Its library is loaded for those who have such a PAK.
  if (method === 'zstd') return (await import('../../../codecs/compression/zstd.ts')).zstdDecompress;
  if (method === 'oodle') return loadOodle(oodle);
  if (method === 'custom') return decodeCustom(await loadOodle(oodle).catch((error: unknown) => error));
  throw new PakratError('E_UNSUPPORTED', `compression method ${method} cannot be decoded`, {
    hint: 'The stored bytes can still be verified.',
    data: { method },
  });
}

const decoders: Readonly<Record<string, BlockDecoder>> = {
  zlib: (bytes, size, what) => inflate(bytes, { size, maxSize: size, what }),
  gzip: gunzip,
  lz4: lz4Block,
  brotli: decodeBrotli,
};

/** Before methods had names, games put Oodle or LZ4 there. LZ4 shows by fitting to the byte. */
function decodeCustom(oodle: unknown): BlockDecoder {
  return (bytes, size, what) => {
    const decoded = resultUnless(isPakratError, () => lz4Block(bytes, size));
    if (decoded !== undefined) return decoded;
    if (typeof oodle !== 'function') throw oodle;
    return (oodle as BlockDecoder)(bytes, size, what);
  };
}

function decodeBrotli(bytes: Uint8Array, size: number, what: string): Uint8Array {
  let output: Buffer;
  try {
    output = zlib.brotliDecompressSync(bytes, { maxOutputLength: Math.max(size, 1) });
  } catch (error) {
    throw formatError('E_FORMAT', what, `damaged Brotli stream (${messageOf(error)})`);
  }
  if (output.length !== size) {
    throw formatError('E_FORMAT_TRUNCATED', what, 'another size', { expected: size, found: output.length });
  }
  return new Uint8Array(output.buffer, output.byteOffset, output.length);
}
