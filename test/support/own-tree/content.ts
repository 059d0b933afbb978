import { createHash } from 'node:crypto';

/*
 * The right bytes of every file of a made tree follow from its name. The independent generator has the same rule, so that the same truth
 * holds for its trees and for ours. None of the program's code is used here.
 */

/** What the content of a file follows from. */
export interface ContentRule {
  seed: string;
  name: string;
  locale: string;
  revision: number;
  /** Of the first revision. */
  size: number;
  /** `r` random, `t` text, `c` repeating. */
  kind: string;
}

/** Bytes that follow from a text, and look random. */
export function stream(text: string, size: number): Buffer {
  return size === 0 ? Buffer.alloc(0) : createHash('shake128', { outputLength: size }).update(text).digest();
}

/** A number from 0 to below 1 that follows from a text. */
export function dice(text: string): number {
  return stream(text, 4).readUInt32BE() / 2 ** 32;
}

const letters = Buffer.from('etaoin shrdlu\ncmfwypvbgkjqxz,.0129');

/** The content of a file. */
export function fileContent({ seed, name, locale, revision, size, kind }: ContentRule): Buffer {
  const key = `${seed}|${name}|${locale}`;
  let bytes = kind === 'c' ? Buffer.alloc(size, stream(key, 256)) : stream(key, size);
  if (kind === 't') bytes = bytes.map((byte) => letters[byte % 32]!) as Buffer;
  for (let next = 2; next <= revision; next++) bytes = revised(bytes, key, next);
  return bytes;
}

/** The next revision: up to 16 bytes raised at one place, up to 64 put in at another. */
function revised(old: Buffer, key: string, revision: number): Buffer {
  const rolls = stream(`${key}|edit|${revision}`, 16);
  const insertAt = Number(rolls.readBigUInt64BE(0) % BigInt(old.length + 1));
  const raiseAt = rolls.readUInt32BE(8) % Math.max(old.length, 1);
  const inserted = stream(`${key}|ins|${revision}`, 1 + (rolls[12]! % 64));
  const raised = Buffer.from(old);
  for (let i = raiseAt; i < Math.min(raiseAt + 16, old.length); i++) raised[i] = (raised[i]! + (rolls[13]! | 1)) & 0xff;
  return Buffer.concat([raised.subarray(0, insertAt), inserted, raised.subarray(insertAt)]);
}

/** The size of the first revision of a file whose second has `size` bytes; what is put in does not depend on it. */
export function firstSize(seed: string, name: string, size: number): number {
  return size - (1 + (stream(`${seed}|${name}||edit|2`, 16)[12]! % 64));
}
