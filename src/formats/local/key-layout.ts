// Static containers: installations without an index (Overwatch and Diablo II: Resurrected on Steam). The place of an entry is
// written into its ekey, as lines of the build config say:
//
//   key-layout-index-bits = 0        bits that choose among several layouts
//   key-layout-0 = 8 8 40 1          bits of chunk, of archive, of offset; then what the offset is to be multiplied with (0 means 1)
//
//   ekey  9 bytes   the leading bytes of the MD5 that an ekey else is
//         7 bytes   56 bits, from the highest: layout, chunk, archive, offset
//
// 60c6f4edb027e645e3 | 00 01 00178fa4f6 lies in chunk 0, archive 1, at 0x178fa4f6: that of Diablo II: Resurrected 3.2 (2026).
// Known from TACTLib and CascLib; no real container was at hand.

import { isKeyHex } from '../../core/bytes.ts';
import { formatError, PakratError } from '../../core/errors.ts';
import type { ConfigFile } from '../configs/config-file.ts';

/** Bytes of a static ekey that are a hash. */
export const staticHashSize = 9;

const what = 'key layout';
const placeBits = 56;

/** Widths of one layout, in bits, and the unit of its offsets in bytes. */
export interface KeyLayout {
  readonly chunkBits: number;
  readonly archiveBits: number;
  readonly offsetBits: number;
  readonly unit: number;
}

/** All layouts of a build. */
export interface KeyLayouts {
  readonly indexBits: number;
  /** By their number; there may be gaps. */
  readonly layouts: ReadonlyMap<number, KeyLayout>;
}

/** The place of an entry that is written into its ekey. */
export interface StaticPlace {
  layout: number;
  chunk: number;
  archive: number;
  /** In bytes. */
  offset: number;
}

/**
 * The layouts that a build config has, or undefined when it is one of an ordinary build.
 * @throws E_FORMAT for a line that is not as above, E_FORMAT_RANGE for more than 56 bits
 */
export function decodeKeyLayouts(config: ConfigFile): KeyLayouts | undefined {
  const bits = config.get('key-layout-index-bits')?.[0];
  if (bits === undefined) return undefined;
  const indexBits = number(bits, 8);
  const layouts = new Map<number, KeyLayout>();
  for (const { key, values } of config.entries) {
    const index = /^key-layout-(\d{1,3})$/.exec(key)?.[1];
    if (index !== undefined) layouts.set(number(index, 2 ** indexBits - 1), decodeLayout(values, indexBits));
  }
  if (layouts.size === 0) throw formatError('E_FORMAT', what, 'the build config has no key-layout-0');
  return { indexBits, layouts };
}

function decodeLayout(values: readonly string[], indexBits: number): KeyLayout {
  const [chunkBits = 0, archiveBits = 0, offsetBits = 0] = values.slice(0, 3).map((value) => number(value, placeBits));
  if (values.length < 3) throw formatError('E_FORMAT', what, 'it has fewer than three widths');
  const sum = indexBits + chunkBits + archiveBits + offsetBits;
  if (sum > placeBits) throw formatError('E_FORMAT_RANGE', what, 'too many bits', { expected: placeBits, found: sum });
  const unit = values[3] === undefined ? 1 : number(values[3], 2 ** 24) || 1;
  return { chunkBits, archiveBits, offsetBits, unit };
}

function number(text: string, most: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= most) return value;
  throw formatError('E_FORMAT', what, `${JSON.stringify(text.slice(0, 20))} is no number up to ${most}`);
}

/** The lines of a build config for some layouts: the mirror of {@link decodeKeyLayouts}. */
export function encodeKeyLayouts({ indexBits, layouts }: KeyLayouts): { key: string; values: string[] }[] {
  const rows = [...layouts].map(([index, { chunkBits, archiveBits, offsetBits, unit }]) => ({
    key: `key-layout-${index}`,
    values: [chunkBits, archiveBits, offsetBits, unit].map(String),
  }));
  return [{ key: 'key-layout-index-bits', values: [String(indexBits)] }, ...rows];
}

/**
 * The place of an entry that is written into its ekey.
 * @param ekey hex, 32 digits
 * @throws E_FORMAT_RANGE for a key of another size or an offset that is too large, E_UNSUPPORTED when the build config does not describe its layout
 */
export function placeOfKey(ekey: string, { indexBits, layouts }: KeyLayouts): StaticPlace {
  if (!isKeyHex(ekey)) throw formatError('E_FORMAT_RANGE', what, `${ekey} is no whole key`);
  let rest = BigInt(`0x${ekey.slice(staticHashSize * 2)}`);
  let left = placeBits;
  const take = (bits: number): bigint => {
    left -= bits;
    const value = rest >> BigInt(left);
    rest -= value << BigInt(left);
    return value;
  };
  const index = Number(take(indexBits));
  const layout = layouts.get(index);
  if (layout === undefined) {
    const problem = `${what}: the build config does not describe layout ${index} of key ${ekey}`;
    throw new PakratError('E_UNSUPPORTED', problem);
  }
  const place = { layout: index, chunk: Number(take(layout.chunkBits)), archive: Number(take(layout.archiveBits)) };
  const offset = take(layout.offsetBits) * BigInt(layout.unit);
  if (offset > BigInt(Number.MAX_SAFE_INTEGER))
    throw formatError('E_FORMAT_RANGE', what, `offset ${offset} is too large`);
  return { ...place, offset: Number(offset) };
}

/**
 * The ekey of an entry at a place: the leading bytes of its hash, then the place.
 * @param hash hex, at least 18 digits
 * @throws E_FORMAT_RANGE when the place does not fit its layout
 */
export function keyOfPlace(hash: string, place: StaticPlace, { indexBits, layouts }: KeyLayouts): string {
  const layout = layouts.get(place.layout);
  if (layout === undefined) throw formatError('E_FORMAT_RANGE', what, `there is no layout ${place.layout}`);
  let bits = 0n;
  let left = placeBits;
  const put = (value: number, width: number): void => {
    left -= width;
    const fits = Number.isSafeInteger(value) && value >= 0 && BigInt(value) < 1n << BigInt(width);
    if (!fits) throw formatError('E_FORMAT_RANGE', what, `${value} does not fit into ${width} bits`);
    bits |= BigInt(value) << BigInt(left);
  };
  put(place.layout, indexBits);
  put(place.chunk, layout.chunkBits);
  put(place.archive, layout.archiveBits);
  put(place.offset / layout.unit, layout.offsetBits);
  return hash.slice(0, staticHashSize * 2) + bits.toString(16).padStart(placeBits / 4, '0');
}
