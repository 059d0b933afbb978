import { promisify } from 'node:util';
import * as zlib from 'node:zlib';

const deflateOnThread = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.deflate);

/**
 * Makes a zlib stream on another thread; the bytes are those that `deflate` makes. What is given must not change meanwhile.
 * @param level 0 to 9
 */
export async function deflateBlock(bytes: Uint8Array, level: number): Promise<Uint8Array> {
  const buffer = await deflateOnThread(bytes, { level });
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}
