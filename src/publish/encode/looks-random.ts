import { viewOf } from '../../core/bytes.ts';
import type { Content } from './content.ts';

/** Less is simply tried. */
const leastBytes = 4096;
/** Bytes of a sample; a large content has three. */
const sampleBytes = 1 << 18;
/** Bits of the table of places where four bytes stood. */
const tableBits = 14;

/**
 * True for a content that deflating makes no smaller, as what is compressed or encrypted already: to try costs thirty times what it costs to
 * look. Its bytes are as frequent as each other, within what would save one part in 500, and hardly four of them stand together twice. Told by
 * whole numbers, so every machine decides alike.
 */
export function looksRandom({ size, read }: Content): boolean {
  if (size < leastBytes) return false;
  if (size <= 3 * sampleBytes) return isRandom(read(0, size));
  return [0, (size - sampleBytes) >>> 1, size - sampleBytes].every((offset) => isRandom(read(offset, sampleBytes)));
}

function isRandom(bytes: Uint8Array): boolean {
  return isEven(bytes) && !repeats(bytes.subarray(0, sampleBytes));
}

/** Chance alone gives a sum of squares that is larger by about one for each byte. */
function isEven(bytes: Uint8Array): boolean {
  const counts = new Uint32Array(256);
  for (let i = 0; i < bytes.length; i++) counts[bytes[i]!]! += 1;
  const squares = counts.reduce((sum, count) => sum + count * count, 0);
  return (256 * squares) / bytes.length - bytes.length < 512 + bytes.length / 50;
}

/** True when one place in a hundred begins with four bytes that stood somewhere before. */
function repeats(bytes: Uint8Array): boolean {
  const places = new Int32Array(1 << tableBits).fill(-1);
  const view = viewOf(bytes);
  let found = 0;
  for (let i = 0; i + 4 <= bytes.length; i++) {
    const word = view.getUint32(i);
    const slot = Math.imul(word, 0x9e3779b1) >>> (32 - tableBits);
    const before = places[slot]!;
    if (before >= 0 && view.getUint32(before) === word) found += 1;
    places[slot] = i;
  }
  return found * 100 > bytes.length;
}
