import * as pako from 'pako';
import { breathe } from '../../core/breathe.ts';
import type { DeflateOptions } from './inflate.ts';

/**
 * Makes the zlib stream that the original zlib makes, byte for byte, on every machine: what is needed to arrive at
 * the key that somebody else computed. About a quarter as fast as `deflate`, whose zlib hashes in a way of its own.
 * (Equal to zlib 1.2.13 at levels 1, 6 and 9 and windows 9, 12, 14 and 15; checked.)
 */
export function deflateExact(bytes: Uint8Array, options: DeflateOptions): Uint8Array {
  return pako.deflate(bytes, pakoOptions(options));
}

/** Bytes that take about 50 ms. */
const stepBytes = 1 << 18;

/** The same stream, while the event loop turns: for contents that take long. @throws E_ABORTED */
export async function deflateExactInSteps(
  bytes: Uint8Array,
  options: DeflateOptions,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const deflate = new pako.Deflate(pakoOptions(options));
  for (let at = 0; at === 0 || at < bytes.length; at += stepBytes) {
    await breathe(signal);
    deflate.push(bytes.subarray(at, at + stepBytes), at + stepBytes >= bytes.length);
  }
  return deflate.result as Uint8Array;
}

function pakoOptions({ level, windowBits = 15 }: DeflateOptions): pako.DeflateOptions {
  return { level, windowBits, legacyHash: true };
}
