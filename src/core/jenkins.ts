/*
 * Bob Jenkins' lookup3 (hashlittle2), public domain, as TACT and CASC use it: for the name hashes of a WoW root
 * and for the checksums of local index files. Words are little-endian; all sums are modulo 2^32.
 */

import { type BytePart, writeU32 } from './bytes.ts';

const rotate = (x: number, k: number): number => (x << k) | (x >>> (32 - k));

/** What {@link mix} made last: an object for each of millions of names would cost more than the hash. */
let primary = 0;
let second = 0;

/** The bytes [start, end) of a memory, as a view of numbers. */
export interface ViewPart extends BytePart {
  view: DataView;
}

/** How {@link mix} takes bytes. */
interface Mixing {
  pc: number;
  pb: number;
  /** Letters as upper-case ones, and slashes as back-slashes. */
  isName: boolean;
}

/**
 * Both halves of hashlittle2 over some bytes, as unsigned numbers: `c` is the primary, `b` the second value.
 * @param pc first seed, @param pb second seed
 */
export function hashLittle2(bytes: Uint8Array, pc = 0, pb = 0): { c: number; b: number } {
  mix(viewOf({ bytes, start: 0, end: bytes.length }), { pc, pb, isName: false });
  return { c: primary >>> 0, b: second >>> 0 };
}

function viewOf({ bytes, start, end }: BytePart & { bytes: Uint8Array }): ViewPart {
  return { view: new DataView(bytes.buffer, bytes.byteOffset + start, end - start), start: 0, end: end - start };
}

/** Hashes some bytes into {@link primary} and {@link second}. */
function mix({ view, start, end }: ViewPart, { pc, pb, isName }: Mixing): void {
  let at = start;
  let rest = end - start;
  let a = (0xdeadbeef + rest + pc) | 0;
  let b = a;
  let c = (a + pb) | 0;
  // The last block of 1 to 12 bytes is padded with zeros and goes through the final mix alone.
  for (; rest > 12; rest -= 12, at += 12) {
    const first = view.getInt32(at, true);
    const next = view.getInt32(at + 4, true);
    const last = view.getInt32(at + 8, true);
    a = (a + (isName ? normalizeWord(first) : first)) | 0;
    b = (b + (isName ? normalizeWord(next) : next)) | 0;
    c = (c + (isName ? normalizeWord(last) : last)) | 0;
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
  if (rest > 0) {
    const first = wordAt(view, at, rest);
    const next = wordAt(view, at + 4, rest - 4);
    const last = wordAt(view, at + 8, rest - 8);
    a = (a + (isName ? normalizeWord(first) : first)) | 0;
    b = (b + (isName ? normalizeWord(next) : next)) | 0;
    c = (c + (isName ? normalizeWord(last) : last)) | 0;
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

/** Up to four bytes as a word, with zeros behind them. */
function wordAt(view: DataView, at: number, size: number): number {
  if (size >= 4) return view.getInt32(at, true);
  let value = 0;
  for (let i = size - 1; i >= 0; i--) value = (value << 8) | view.getUint8(at + i);
  return value;
}

/** Four characters at once, each as {@link normalizeName} has it: the highest bit of a byte says what is true of the seven others. */
function normalizeWord(word: number): number {
  const low = word & 0x7f7f7f7f;
  const isAscii = ~word & 0x80808080;
  // a to z: from 0x61 on, and not from 0x7b on.
  const isLetter = (low + 0x1f1f1f1f) & ~(low + 0x05050505) & isAscii;
  const isSlash = ~((low ^ 0x2f2f2f2f) + 0x7f7f7f7f) & isAscii;
  // 0x2f and 0x5c differ in 0x73.
  return word ^ (isLetter >>> 2) ^ ((isSlash >>> 7) * 0x73);
}

/** hashlittle: the primary value of {@link hashLittle2} alone. */
export function hashLittle(bytes: Uint8Array, seed = 0): number {
  return hashLittle2(bytes, seed).c;
}

const utf8Encoder = new TextEncoder();
const nameMixing: Mixing = { pc: 0, pb: 0, isName: true };

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
export function writeNameHash(target: Uint8Array, at: number, name: BytePart & { bytes: Uint8Array }): void {
  mix(viewOf(name), nameMixing);
  writeU32(target, at, primary);
  writeU32(target, at + 4, second);
}

/** As {@link writeNameHash}, as two words of a table: the high half, then the low. */
export function putNameHash(words: Uint32Array, at: number, name: ViewPart): void {
  mix(name, nameMixing);
  words[at] = primary;
  words[at + 1] = second;
}

/** A name as the formats compare it: upper-case ASCII and back-slashes. Other letters stay as they are. */
export function normalizeName(name: string): string {
  return name.replaceAll('/', '\\').replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}
