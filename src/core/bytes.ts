import { formatError } from './errors.ts';

/** The same bytes as a Buffer: for its readers of numbers and text. No copy. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The bytes of a Buffer without its own `slice`, which does not copy. No copy. */
export function plainView(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}

/** The same bytes for readers and writers of numbers. No copy. */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView<ArrayBuffer> {
  return new DataView(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** Copies a record, or a key: so few bytes that to make a view of them takes longer. Four at a time take half the time of one after the other. */
export function copyRecord(
  source: DataView,
  from: number,
  { target, to, size }: { target: DataView; to: number; size: number },
): void {
  let at = 0;
  for (; at + 4 <= size; at += 4) target.setUint32(to + at, source.getUint32(from + at));
  for (; at < size; at++) target.setUint8(to + at, source.getUint8(from + at));
}

/** Lower-case hex of some bytes. */
export function toHex(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('hex');
}

/** In place of the value of a character that is no hex digit. */
const noDigit = 0x10;
/** The value of each ASCII character as a hex digit. */
const digitValues = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const digit = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(digit) ? noDigit : digit;
});

/**
 * The bytes of a hex string of either case, in memory of their own: a Buffer of a key would lie in 8 KiB that it shares, and keep all of them as long as it is kept.
 * @throws E_FORMAT when it is no hex
 */
export function fromHex(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length >>> 1);
  let seen = text.length % 2 === 0 ? 0 : noDigit;
  for (let at = 0; at < bytes.length; at++) {
    const high = digitValues[text.charCodeAt(2 * at)] ?? noDigit;
    const low = digitValues[text.charCodeAt(2 * at + 1)] ?? noDigit;
    seen |= high | low;
    bytes[at] = (high << 4) | low;
  }
  if (seen < noDigit) return bytes;
  throw formatError('E_FORMAT', 'hex string', `not hexadecimal: ${JSON.stringify(text.slice(0, 40))}`);
}

/** True when both hold the same bytes. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && compareBytes(a, b) === 0;
}

/** Order as `memcmp`, the shorter first when one is the start of the other. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = a[i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Bytes of a key: an ekey, a ckey, the name of an object. */
const keyBytes = 16;

const hexDigits = '0123456789abcdef';

/** True when the key that lies at an offset of some bytes is that of a text in lower-case hex: nothing is made of either. */
export function isKeyAt(bytes: Uint8Array, at: number, hex: string): boolean {
  if (hex.length !== 2 * keyBytes || at + keyBytes > bytes.length) return false;
  for (let i = 0; i < keyBytes; i++) {
    const byte = bytes[at + i]!;
    if (hex.charCodeAt(2 * i) !== hexDigits.charCodeAt(byte >> 4)) return false;
    if (hex.charCodeAt(2 * i + 1) !== hexDigits.charCodeAt(byte & 15)) return false;
  }
  return true;
}

/** Order of two keys of 16 bytes that lie at offsets of some bytes, as `memcmp`: no view is made of either. */
export function compareKeys(a: Uint8Array, at: number, b: Uint8Array, bAt: number): number {
  for (let i = 0; i < keyBytes; i++) {
    const difference = a[at + i]! - b[bAt + i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A big-endian number of up to 6 bytes, which must be there. */
export function uintAt(bytes: Uint8Array, at: number, size: number): number {
  let value = 0;
  for (let i = at; i < at + size; i++) value = value * 0x100 + bytes[i]!;
  return value;
}

/** One array out of many, in order. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  let size = 0;
  for (const part of parts) size += part.length;
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** True when every byte is zero (also for no bytes). */
export function isAllZero(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte !== 0) return false;
  return true;
}

/** True for 32 hex digits: the text form of a ckey, an ekey or the name of a CDN object. */
export function isKeyHex(text: string): boolean {
  return /^[0-9a-fA-F]{32}$/.test(text);
}

/** A part of some bytes: [start, end). */
export interface BytePart {
  start: number;
  end: number;
}

/** Compares parts of bytes as memcmp does, the shorter of two that begin alike first; for parts so short that to make views of them takes longer. */
export function compareParts(a: Uint8Array, part: BytePart, b: Uint8Array, other: BytePart): number {
  const [size, otherSize] = [part.end - part.start, other.end - other.start];
  const common = Math.min(size, otherSize);
  for (let i = part.start, j = other.start, end = i + common; i < end; i++, j++) {
    const difference = a[i]! - b[j]!;
    if (difference !== 0) return difference;
  }
  return size - otherSize;
}

/** The big-endian u32 at an offset, which is inside. */
export function u32At(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

/** Writes a big-endian u32 at an offset. */
export function writeU32(bytes: Uint8Array, at: number, value: number): void {
  for (let i = 0; i < 4; i++) bytes[at + i] = value >>> (24 - 8 * i);
}
