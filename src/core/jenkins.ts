/*
 * Bob Jenkins' lookup3 (hashlittle2), public domain, as TACT and CASC use it: for the name hashes of a WoW root
 * and for the checksums of local index files. Words are little-endian; all sums are modulo 2^32.
 */

import { writeU32 } from './bytes.ts';

const rotate = (x: number, k: number): number => (x << k) | (x >>> (32 - k));

/** What {@link mix} made last: an object for each of millions of names would cost more than the hash. */
let primary = 0;
let second = 0;

/**
 * Both halves of hashlittle2 over some bytes, as unsigned numbers: `c` is the primary, `b` the second value.
 * @param pc first seed, @param pb second seed
 */
export function hashLittle2(bytes: Uint8Array, pc = 0, pb = 0): { c: number; b: number } {
  mix(bytes, bytes.length, { pc, pb });
  return { c: primary >>> 0, b: second >>> 0 };
}

const noSeeds = { pc: 0, pb: 0 };

/** Hashes the first `size` bytes into {@link primary} and {@link second}. */
function mix(bytes: Uint8Array, size: number, { pc, pb }: { pc: number; pb: number } = noSeeds): void {
  let a = (0xdeadbeef + size + pc) | 0;
  let b = a;
  let c = (a + pb) | 0;
  // The last block of 1 to 12 bytes is padded with zeros and goes through the final mix alone.
  let at = 0;
  for (; size - at > 12; at += 12) {
    a = (a + wordAt(bytes, at)) | 0;
    b = (b + wordAt(bytes, at + 4)) | 0;
    c = (c + wordAt(bytes, at + 8)) | 0;
    a = (a - c) ^ rotate(c, 4);
    c = (c + b) | 0;
    b = (b - a) ^ rotate(a, 6);
    a = (a + c) | 0;
    c = (c - b) ^ rotate(b, 8);
    b = (b + a) | 0;
    a = (a - c) ^ rotate(c, 16);
    c = (c + b) | 0;
    b = (b - a) ^ rotate(a, 19);
    a = (a + c) | 0;
    c = (c - b) ^ rotate(b, 4);
    b = (b + a) | 0;
  }
  if (size > 0) {
    a = (a + lastWordAt(bytes, at, size)) | 0;
    b = (b + lastWordAt(bytes, at + 4, size)) | 0;
    c = (c + lastWordAt(bytes, at + 8, size)) | 0;
    c = ((c ^ b) - rotate(b, 14)) | 0;
    a = ((a ^ c) - rotate(c, 11)) | 0;
    b = ((b ^ a) - rotate(a, 25)) | 0;
    c = ((c ^ b) - rotate(b, 16)) | 0;
    a = ((a ^ c) - rotate(c, 4)) | 0;
    b = ((b ^ a) - rotate(a, 14)) | 0;
    c = ((c ^ b) - rotate(b, 24)) | 0;
  }
  primary = c;
  second = b;
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

function lastWordAt(bytes: Uint8Array, at: number, size: number): number {
  let value = 0;
  for (let i = Math.min(4, size - at) - 1; i >= 0; i--) value |= bytes[at + i]! << (8 * i);
  return value;
}

/** hashlittle: the primary value of {@link hashLittle2} alone. */
export function hashLittle(bytes: Uint8Array, seed = 0): number {
  return hashLittle2(bytes, seed).c;
}

const utf8Encoder = new TextEncoder();

/** Bytes of a name that is being hashed, upper-case. */
let upperCase = new Uint8Array(1024);

/**
 * The 64-bit name hash of a WoW root, 8 bytes big-endian: lookup3 of the upper-case name with back-slashes,
 * the primary value in the high half. "interface/icons/inv_helm_armor_explorer_d_01.blp" is 770b8d2dc4d940aa.
 * (Checked fact, formats: WoW root name hash.)
 */
export function nameHash(name: string): Uint8Array {
  const bytes = utf8Encoder.encode(name);
  const hash = new Uint8Array(8);
  writeNameHash(hash, 0, { bytes, start: 0, end: bytes.length });
  return hash;
}

/**
 * As {@link nameHash}, of the bytes [start, end) of UTF-8 text, written to `target` at an offset.
 * For lists of millions of names, where a text, or a view, of each takes several times as long.
 */
export function writeNameHash(
  target: Uint8Array,
  at: number,
  { bytes, start, end }: { bytes: Uint8Array; start: number; end: number },
): void {
  const size = end - start;
  if (size > upperCase.length) upperCase = new Uint8Array(2 * size);
  // As normalizeName has it.
  for (let i = 0; i < size; i++) {
    const byte = bytes[start + i]!;
    upperCase[i] = byte >= 0x61 && byte <= 0x7a ? byte - 0x20 : byte === 0x2f ? 0x5c : byte;
  }
  mix(upperCase, size);
  writeU32(target, at, primary);
  writeU32(target, at + 4, second);
}

/** A name as the formats compare it: upper-case ASCII and back-slashes. Other letters stay as they are. */
export function normalizeName(name: string): string {
  return name.replaceAll('/', '\\').replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}
