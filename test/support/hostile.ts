import { isPakratError, messageOf } from '../../src/core/errors.ts';

/** Small deterministic random numbers (xorshift32), so that a failing case can be run again. */
export function randomSource(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 0x1_0000_0000;
  };
}

/** Tells a decoder that hangs from one that waits for a busy machine. */
const maxMilliseconds = 15_000;

function expectTamed(decode: (bytes: Uint8Array) => unknown, bytes: Uint8Array, story: string): boolean {
  const started = performance.now();
  let refused = false;
  try {
    decode(bytes);
  } catch (error) {
    refused = true;
    if (!isPakratError(error)) {
      throw new Error(`${story}: not an error with a code but ${messageOf(error)}`, { cause: error });
    }
  }
  const took = performance.now() - started;
  if (took > maxMilliseconds) throw new Error(`${story}: took ${Math.round(took)} ms`);
  return refused;
}

export interface HostileOptions {
  /** How many prefixes, flips and random inputs at most, each. Default 150. */
  samples?: number;
  /** Whether every shorter prefix must be refused. Default true; false for text formats, where a prefix may be valid. */
  prefixesFail?: boolean;
}

/**
 * Feeds a decoder each prefix of a valid file (sampled when long), the file with single bytes changed, and random bytes.
 * Whatever comes, the decoder answers in time with a value or with an error of ours; never a crash, a hang or a stray exception.
 */
export function expectHostileSafe(
  decode: (bytes: Uint8Array) => unknown,
  valid: Uint8Array,
  options: HostileOptions = {},
): void {
  const samples = options.samples ?? 150;
  const random = randomSource(valid.length + 1);
  decode(valid);
  const step = Math.max(1, Math.floor(valid.length / samples));
  for (let size = 0; size < valid.length; size += size < 64 ? 1 : step) {
    const refused = expectTamed(decode, valid.slice(0, size), `prefix of ${size} bytes`);
    if (!refused && options.prefixesFail !== false)
      throw new Error(`prefix of ${size} of ${valid.length} bytes was taken for whole`);
  }
  for (let i = 0; i < samples; i++) {
    const offset = i < Math.min(64, valid.length) ? i : Math.floor(random() * valid.length);
    const changed = valid.slice();
    changed[offset] = changed[offset]! ^ (1 + Math.floor(random() * 255));
    expectTamed(decode, changed, `byte ${offset} changed to ${changed[offset]}`);
    const extreme = valid.slice();
    extreme[offset] = 0xff;
    expectTamed(decode, extreme, `byte ${offset} changed to 255`);
  }
  for (let i = 0; i < samples; i++) {
    const bytes = Uint8Array.from({ length: Math.floor(random() * 200) }, () => Math.floor(random() * 256));
    if (i % 2 === 0) bytes.set(valid.subarray(0, Math.min(8, bytes.length, valid.length)));
    expectTamed(decode, bytes, `random bytes ${i}`);
  }
}
