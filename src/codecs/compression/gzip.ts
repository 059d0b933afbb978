/*
 * gzip files (RFC 1952), by node:zlib. The library checks size and CRC-32; the promised size is checked here.
 */
import * as zlib from 'node:zlib';
import { plainView } from '../../core/bytes.ts';
import { codeOf, formatError, messageOf } from '../../core/errors.ts';

/** Deflate's best case is two bits for 258 bytes: no input gives more than this many times its size. */
const maxRatio = 1032;

/**
 * Decompresses a gzip file of exactly `size` bytes.
 * @param what names it in errors
 * @throws E_FORMAT_RANGE when more would come out, E_FORMAT_TRUNCATED when input or output ends early, E_FORMAT otherwise
 */
export function gunzip(bytes: Uint8Array, size: number, what: string): Uint8Array {
  if (size > bytes.length * maxRatio) {
    throw formatError('E_FORMAT_RANGE', what, `${bytes.length} bytes of gzip cannot hold the promised ${size}`);
  }
  const output = attempt(() => zlib.gunzipSync(bytes, { maxOutputLength: Math.max(size, 1) }), size, what);
  if (output.length < size) {
    throw formatError('E_FORMAT_TRUNCATED', what, 'gzip output ends early', { expected: size, found: output.length });
  }
  if (output.length > size)
    throw formatError('E_FORMAT_RANGE', what, `gzip output is larger than the promised ${size}`);
  return plainView(output);
}

function attempt(work: () => Buffer, size: number, what: string): Buffer {
  try {
    return work();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ERR_BUFFER_TOO_LARGE') {
      throw formatError('E_FORMAT_RANGE', what, `gzip output is larger than the promised ${size}`);
    }
    if (code === 'Z_BUF_ERROR') throw formatError('E_FORMAT_TRUNCATED', what, 'gzip file ends early');
    throw formatError('E_FORMAT', what, `damaged gzip file (${messageOf(error)})`);
  }
}
