/*
 * zlib streams (RFC 1950), by node:zlib. The library checks the Adler-32; the promised size, the bound of the output
 * and bytes behind the end of the stream are checked here, because it ignores them.
 */
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { plainView } from '../../core/bytes.ts';
import { codeOf, formatError, messageOf, type PakratError } from '../../core/errors.ts';

/** Facts about the output that are known before it is made, and a name for errors. */
export interface InflateOptions {
  /** Exact size of the output, when it is known. */
  size?: number | undefined;
  /** Most bytes that may come out. */
  maxSize: number;
  /** The thing that is inflated, as it opens the sentence of an error. */
  what: string;
}

/** The options, and `gzip` where the stream is none of zlib. */
type StreamOptions = InflateOptions & { format?: string };

/** Deflate's best case is two bits for 258 bytes: no input gives more than this many times its size. */
const maxRatio = 1032;
/** The smallest buffer that the library takes. */
const minChunkSize = 64;
const unknownChunkSize = 0x10000;
const streamChunkSize = 0x40000;

/** inflateSync with `info: true`, which its type does not know: it also gives the engine, with the input consumed. */
type InflateWithInfo = (
  bytes: Uint8Array,
  options: zlib.ZlibOptions,
) => { buffer: Buffer; engine: { bytesWritten: number } };
const inflateWithInfo = zlib.inflateSync as unknown as InflateWithInfo;

/**
 * Inflates one whole zlib stream.
 * @throws E_FORMAT_RANGE when more than `size` or `maxSize` bytes would come out, E_FORMAT_TRUNCATED when input or
 *   output ends early, E_FORMAT_CHECKSUM for a wrong Adler-32, E_FORMAT for other damage and for trailing bytes
 */
export function inflate(bytes: Uint8Array, options: InflateOptions): Uint8Array {
  const { size, maxSize } = options;
  if (size !== undefined) checkPromise(bytes.length, size, options);
  const zlibOptions = {
    // One byte more than promised: the stream ends within the first buffer, and an overlong one shows.
    chunkSize: size === undefined ? unknownChunkSize : Math.max(size + 1, minChunkSize),
    maxOutputLength: Math.max(size ?? maxSize, 1),
    info: true,
  };
  try {
    const { buffer, engine } = inflateWithInfo(bytes, zlibOptions);
    checkEnd({ given: bytes.length, used: engine.bytesWritten, made: buffer.length }, options);
    return plainView(buffer);
  } catch (error) {
    throw translated(error, options);
  }
}

/**
 * Inflates a zlib stream that comes in pieces, into pieces of at most 256 KiB; holds neither input nor output.
 * The checks are those of {@link inflate}, but made as the bytes go by: what came before an error was already given out.
 */
export async function* inflatePieces(
  pieces: AsyncIterable<Uint8Array>,
  options: InflateOptions,
): AsyncGenerator<Uint8Array> {
  const stream = zlib.createInflate({ chunkSize: streamChunkSize });
  const limit = options.size ?? options.maxSize;
  let given = 0;
  let made = 0;
  async function* counted() {
    for await (const piece of pieces) {
      given += piece.length;
      yield piece;
    }
  }
  try {
    // An error of either side ends the loop below, so nothing is left to do in the callback.
    pipeline(counted(), stream, () => {});
    for await (const piece of stream as AsyncIterable<Buffer>) {
      made += piece.length;
      if (made > limit) throw tooLarge(options);
      yield plainView(piece);
    }
    checkEnd({ given, used: stream.bytesWritten, made }, options);
  } catch (error) {
    throw translated(error, options);
  }
}

/**
 * Decompresses a gzip file (RFC 1952) of exactly `size` bytes. The library checks size and CRC-32.
 * @throws E_FORMAT_RANGE when more would come out, E_FORMAT_TRUNCATED when input or output ends early, E_FORMAT… otherwise
 */
export function gunzip(bytes: Uint8Array, size: number, what: string): Uint8Array {
  const options = { size, maxSize: size, what, format: 'gzip' };
  checkPromise(bytes.length, size, options);
  try {
    const output = zlib.gunzipSync(bytes, { maxOutputLength: Math.max(size, 1) });
    checkEnd({ given: bytes.length, used: bytes.length, made: output.length }, options);
    return plainView(output);
  } catch (error) {
    throw translated(error, options);
  }
}

/** Settings of zlib: a level of 0 to 9, and the window as a power of two, 8 to 15 (default 15). */
export interface DeflateOptions {
  level: number;
  windowBits?: number | undefined;
}

/**
 * Makes a zlib stream, fast. Its bytes depend on the zlib that Node was built with and on the processor;
 * where the same bytes must come out everywhere, use deflateExact.
 */
export function deflate(bytes: Uint8Array, options: DeflateOptions): Uint8Array {
  return plainView(zlib.deflateSync(bytes, { level: options.level, windowBits: options.windowBits ?? 15 }));
}

/** Refuses a promise that cannot be kept, before a buffer of that size is asked for. */
function checkPromise(given: number, size: number, options: StreamOptions): void {
  if (size > options.maxSize) throw tooLarge(options);
  if (size > given * maxRatio) {
    const { what, format = 'zlib' } = options;
    throw formatError('E_FORMAT_RANGE', what, `${given} bytes of ${format} cannot hold the promised ${size}`);
  }
}

function checkEnd(
  counts: { given: number; used: number; made: number },
  { size, maxSize, what, format = 'zlib' }: StreamOptions,
): void {
  const { given, used, made } = counts;
  if (size !== undefined && made < size) {
    throw formatError('E_FORMAT_TRUNCATED', what, `${format} output ends early`, { expected: size, found: made });
  }
  if (made > (size ?? maxSize)) throw tooLarge({ size, maxSize, what, format });
  if (used < given) {
    throw formatError('E_FORMAT', what, `${given - used} bytes behind the end of the ${format} stream`, {
      offset: used,
    });
  }
}

function tooLarge({ size, maxSize, what, format = 'zlib' }: StreamOptions): PakratError {
  const limit = Math.min(size ?? maxSize, maxSize);
  return formatError('E_FORMAT_RANGE', what, `${format} output is larger than the ${limit} bytes allowed`);
}

/** An error of the library as one of ours; anything else as it is. */
function translated(error: unknown, options: StreamOptions): unknown {
  const { what, format = 'zlib' } = options;
  const code = codeOf(error);
  if (code === 'ERR_BUFFER_TOO_LARGE') return tooLarge(options);
  if (code === 'Z_BUF_ERROR') return formatError('E_FORMAT_TRUNCATED', what, `${format} stream ends early`);
  if (code !== 'Z_DATA_ERROR' && code !== 'Z_NEED_DICT') return error;
  const kind = messageOf(error) === 'incorrect data check' ? 'E_FORMAT_CHECKSUM' : 'E_FORMAT';
  return formatError(kind, what, `damaged ${format} stream (${messageOf(error)})`);
}

const deflateOnThread = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.deflate);

/**
 * Makes a zlib stream on another thread; the bytes are those that `deflate` makes. What is given must not change meanwhile.
 * @param level 0 to 9
 */
export async function deflateBlock(bytes: Uint8Array, level: number): Promise<Uint8Array> {
  const buffer = await deflateOnThread(bytes, { level });
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}
