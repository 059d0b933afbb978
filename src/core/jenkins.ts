/*
 * Bob Jenkins' lookup3 (hashlittle2), public domain, as TACT and CASC use it: for the name hashes of a WoW root
 * and for the checksums of local index files. Words are little-endian; all sums are modulo 2^32.
 */

const rotate = (x: number, k: number): number => (x << k) | (x >>> (32 - k));

/**
 * Both halves of hashlittle2 over some bytes, as unsigned numbers: `c` is the primary, `b` the second value.
 * @param pc first seed, @param pb second seed
 */
export function hashLittle2(bytes: Uint8Array, pc = 0, pb = 0): { c: number; b: number } {
  const size = bytes.length;
  let a = (0xdeadbeef + size + pc) | 0;
  let b = a;
  let c = (a + pb) | 0;
  if (size === 0) return { c: c >>> 0, b: b >>> 0 };
  const word = (at: number): number => {
    let value = 0;
    for (let i = 3; i >= 0; i--) value = (value << 8) | (bytes[at + i] ?? 0);
    return value;
  };
  // The last block of 1 to 12 bytes is padded with zeros and goes through the final mix alone.
  let at = 0;
  for (; size - at > 12; at += 12) {
    a = (a + word(at)) | 0;
    b = (b + word(at + 4)) | 0;
    c = (c + word(at + 8)) | 0;
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
  a = (a + word(at)) | 0;
  b = (b + word(at + 4)) | 0;
  c = (c + word(at + 8)) | 0;
  c = ((c ^ b) - rotate(b, 14)) | 0;
  a = ((a ^ c) - rotate(c, 11)) | 0;
  b = ((b ^ a) - rotate(a, 25)) | 0;
  c = ((c ^ b) - rotate(b, 16)) | 0;
  a = ((a ^ c) - rotate(c, 4)) | 0;
  b = ((b ^ a) - rotate(a, 14)) | 0;
  c = ((c ^ b) - rotate(b, 24)) | 0;
  return { c: c >>> 0, b: b >>> 0 };
}

/** hashlittle: the primary value of {@link hashLittle2} alone. */
export function hashLittle(bytes: Uint8Array, seed = 0): number {
  return hashLittle2(bytes, seed).c;
}

const utf8Encoder = new TextEncoder();

/**
 * The 64-bit name hash of a WoW root, 8 bytes big-endian: lookup3 of the upper-case name with back-slashes,
 * the primary value in the high half. "interface/icons/inv_helm_armor_explorer_d_01.blp" is 770b8d2dc4d940aa.
 * (Checked fact, formats: WoW root name hash.)
 */
export function nameHash(name: string): Uint8Array {
  // As normalizeName has it, on bytes: lists have millions of names, and a name as text takes four times as long.
  const bytes = utf8Encoder.encode(name);
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte >= 0x61 && byte <= 0x7a) bytes[i] = byte - 0x20;
    else if (byte === 0x2f) bytes[i] = 0x5c;
  }
  const { c, b } = hashLittle2(bytes);
  const hash = new Uint8Array(8);
  const view = new DataView(hash.buffer);
  view.setUint32(0, c);
  view.setUint32(4, b);
  return hash;
}

/** A name as the formats compare it: upper-case ASCII and back-slashes. Other letters stay as they are. */
export function normalizeName(name: string): string {
  return name.replaceAll('/', '\\').replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}
