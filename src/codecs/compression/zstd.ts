/*
 * Zstandard frames (RFC 8878). node:zlib has them from Node 22.15 on; before that fzstd decodes, whose own limits are
 * too wide for bytes from outside: the window that a frame asks for is checked here before the library allocates it.
 */
import * as zlib from 'node:zlib';
import { Decompress } from 'fzstd';
import { formatError, isPakratError, messageOf } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';

const magic = 0xfd2fb528;
/** Larger windows than this are for archives; the format asks decoders for 8 MiB. */
const maxWindow = 32 << 20;

type ZstdSync = (bytes: Uint8Array, options: { maxOutputLength: number }) => Buffer;
const native = (zlib as unknown as { zstdDecompressSync?: ZstdSync }).zstdDecompressSync;

/**
 * Decodes a frame that gives exactly `size` bytes.
 * @param what names it in errors
 * @throws E_FORMAT_RANGE when more would come out or the window is too large, E_FORMAT_TRUNCATED when less comes out,
 *   E_FORMAT otherwise
 */
export function zstdDecompress(bytes: Uint8Array, size: number, what: string): Uint8Array {
  checkFrame(bytes, size, what);
  const output = native === undefined ? decodeInScript(bytes, size, what) : decodeNative(native, bytes, { size, what });
  if (output.length !== size) {
    const code = output.length < size ? 'E_FORMAT_TRUNCATED' : 'E_FORMAT_RANGE';
    throw formatError(code, what, 'zstd output has another size', { expected: size, found: output.length });
  }
  return output;
}

/** Reads the frame header: what it says of its size must fit, and its window must be allowed. */
function checkFrame(bytes: Uint8Array, size: number, what: string): void {
  const reader = new ByteReader(bytes, what);
  reader.magicU32le(magic);
  const descriptor = reader.u8();
  const isSingleSegment = (descriptor & 0x20) !== 0;
  let window = 0;
  if (!isSingleSegment) {
    const code = reader.u8();
    window = 2 ** (10 + (code >>> 3)) * (1 + (code & 7) / 8);
  }
  // The id of a dictionary: 0, 1, 2 or 4 bytes.
  reader.skip((1 << (descriptor & 3)) >> 1);
  const promised = frameSize(reader, descriptor >>> 6, isSingleSegment);
  if (promised !== undefined && promised !== size) {
    throw formatError('E_FORMAT_RANGE', what, 'a zstd frame of another size', { expected: size, found: promised });
  }
  if (window > maxWindow) {
    throw formatError('E_FORMAT_RANGE', what, `a zstd frame asks for a window of ${window} bytes`);
  }
}

/** The size that a frame says it has, which it need not. */
function frameSize(reader: ByteReader, code: number, isSingleSegment: boolean): number | undefined {
  if (code === 0) return isSingleSegment ? reader.u8() : undefined;
  if (code === 1) return reader.u16le() + 256;
  return code === 2 ? reader.u32le() : reader.u64le();
}

function decodeNative(decode: ZstdSync, bytes: Uint8Array, { size, what }: { size: number; what: string }): Uint8Array {
  try {
    const output = decode(bytes, { maxOutputLength: size + 1 });
    return new Uint8Array(output.buffer, output.byteOffset, output.length);
  } catch (error) {
    throw formatError('E_FORMAT', what, `damaged zstd frame (${messageOf(error)})`);
  }
}

function decodeInScript(bytes: Uint8Array, size: number, what: string): Uint8Array {
  const output = new Uint8Array(size);
  let made = 0;
  const decoder = new Decompress((piece) => {
    if (made + piece.length > size) {
      throw formatError('E_FORMAT_RANGE', what, `zstd output is larger than the promised ${size}`);
    }
    output.set(piece, made);
    made += piece.length;
  });
  try {
    decoder.push(bytes, true);
  } catch (error) {
    if (isPakratError(error)) throw error;
    throw formatError('E_FORMAT', what, `damaged zstd frame (${messageOf(error)})`);
  }
  return output.subarray(0, made);
}
