import * as pako from 'pako';
import { breathe } from '../../core/breathe.ts';
import type { DeflateOptions } from './inflate.ts';

/** What is not larger is deflated with tables that are there: to make them takes as long as to deflate some KiB. */
const fewBytes = 1 << 14;

/**
 * Makes the zlib stream that the original zlib makes, byte for byte, on every machine: what is needed to arrive at
 * the key that somebody else computed. About a quarter as fast as `deflate`, whose zlib hashes in a way of its own.
 * (Equal to zlib 1.2.13 at levels 1, 6 and 9 and windows 9, 12, 14 and 15; checked.)
 */
export function deflateExact(bytes: Uint8Array, options: DeflateOptions): Uint8Array {
  if (bytes.length > fewBytes) return pako.deflate(bytes, pakoOptions(options));
  const { level, windowBits = 15 } = options;
  if (last?.level !== level || last.windowBits !== windowBits) last = new SmallDeflate(level, windowBits);
  return last.deflate(bytes);
}

/** The one that was used last: contents that follow one another are mostly deflated alike. */
let last: SmallDeflate | undefined;

/** Deflates one small content after the other with the same tables. */
class SmallDeflate {
  readonly level: number;
  readonly windowBits: number;
  readonly #stream = new pako.ZStream();
  /** A stream of what gets no smaller has a few bytes more. */
  readonly #output = new Uint8Array(2 * fewBytes);

  constructor(level: number, windowBits: number) {
    this.level = level;
    this.windowBits = windowBits;
    const status = pako.zlibDeflateInit2(this.#stream, level, 8, windowBits, 8, pako.Z_DEFAULT_STRATEGY, true);
    if (status !== pako.Z_OK) throw new RangeError(`zlib has no level ${level} with a window of ${windowBits} bits`);
  }

  deflate(bytes: Uint8Array): Uint8Array {
    const stream = this.#stream;
    pako.zlibDeflateReset(stream);
    Object.assign(stream, { input: bytes, next_in: 0, avail_in: bytes.length });
    Object.assign(stream, { output: this.#output, next_out: 0, avail_out: this.#output.length });
    const status = pako.zlibDeflate(stream, pako.Z_FINISH);
    // A view of a large content would keep all of that.
    stream.input = noBytes;
    if (status !== pako.Z_STREAM_END) throw new RangeError(`zlib did not end a stream of ${bytes.length} bytes`);
    return this.#output.slice(0, stream.next_out);
  }
}

const noBytes = new Uint8Array(0);

/** Bytes that take about 50 ms. */
const stepBytes = 1 << 18;

/** The same stream, while the event loop turns: for contents that take long. @throws E_ABORTED */
export async function deflateExactInSteps(
  bytes: Uint8Array,
  options: DeflateOptions,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  await breathe(signal);
  if (bytes.length <= fewBytes) return deflateExact(bytes, options);
  const deflate = new pako.Deflate(pakoOptions(options));
  for (let at = 0; at < bytes.length; at += stepBytes) {
    await breathe(signal);
    deflate.push(bytes.subarray(at, at + stepBytes), at + stepBytes >= bytes.length);
  }
  return deflate.result as Uint8Array;
}

function pakoOptions({ level, windowBits = 15 }: DeflateOptions): pako.DeflateOptions {
  return { level, windowBits, legacyHash: true };
}
