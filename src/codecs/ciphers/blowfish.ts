/*
 * Blowfish as Nadeo's games use it: key bytes and data words are little-endian (every published library is
 * big-endian), with 16 rounds, or with 8 since pack version 18. The constants of the key schedule are the binary
 * digits of pi, so they are worked out once instead of being listed: 18 words of the P-array, then four S-boxes of
 * 256 words. (Schneier, "Description of a New Variable-Length Key, 64-Bit Block Cipher"; word order and rounds
 * checked against test vectors.)
 */
import { viewOf } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';

type BlowfishRounds = 8 | 16;

/** A key made ready for use. */
export interface BlowfishKey {
  readonly rounds: BlowfishRounds;
  /** rounds + 2 subkeys. */
  readonly p: Uint32Array;
  /** Four S-boxes of 256 words, one after the other. */
  readonly s: Uint32Array;
}

type BlowfishBlock = Uint32Array;

const subkeyCount = 18;
const boxWordCount = 4 * 256;
let piWords: Uint32Array | undefined;

/** Makes the key schedule. The key is 4 to 56 bytes, a multiple of 4. Throws E_USAGE for another length. */
export function blowfishKey(key: Uint8Array, rounds: BlowfishRounds = 16): BlowfishKey {
  if (key.length < 4 || key.length > 56 || key.length % 4 !== 0) {
    throw new PakratError('E_USAGE', `a Blowfish key has 4 to 56 bytes in words of 4, not ${key.length}`);
  }
  piWords ??= fractionOfPi(subkeyCount + boxWordCount);
  const p = piWords.slice(0, rounds + 2);
  const s = piWords.slice(subkeyCount);
  const view = viewOf(key);
  for (let i = 0; i < p.length; i++) p[i]! ^= view.getUint32((i * 4) % key.length, true);
  const schedule: BlowfishKey = { rounds, p, s };
  const block = new Uint32Array(2);
  fillFromCipher(p, schedule, block);
  fillFromCipher(s, schedule, block);
  return schedule;
}

/** Encrypts a block in place. */
export function blowfishEncrypt({ rounds, p, s }: BlowfishKey, block: BlowfishBlock): void {
  let left = block[0]!;
  let right = block[1]!;
  for (let i = 0; i < rounds; i += 2) {
    left ^= p[i]!;
    right ^= round(s, left) ^ p[i + 1]!;
    left ^= round(s, right);
  }
  block[0] = right ^ p[rounds + 1]!;
  block[1] = left ^ p[rounds]!;
}

/** Decrypts a block in place. */
export function blowfishDecrypt({ rounds, p, s }: BlowfishKey, block: BlowfishBlock): void {
  let left = block[0]!;
  let right = block[1]!;
  for (let i = rounds + 1; i > 1; i -= 2) {
    left ^= p[i]!;
    right ^= round(s, left) ^ p[i - 1]!;
    left ^= round(s, right);
  }
  block[0] = right ^ p[0]!;
  block[1] = left ^ p[1]!;
}

function round(s: Uint32Array, x: number): number {
  return (((s[x >>> 24]! + s[256 + ((x >>> 16) & 255)]!) ^ s[512 + ((x >>> 8) & 255)]!) + s[768 + (x & 255)]!) | 0;
}

/** Replaces the words, two by two, with the running encryption of a zero block under the key as it is by then. */
function fillFromCipher(words: Uint32Array, key: BlowfishKey, block: BlowfishBlock): void {
  for (let i = 0; i < words.length; i += 2) {
    blowfishEncrypt(key, block);
    words[i] = block[0]!;
    words[i + 1] = block[1]!;
  }
}

/** The first bits behind the point of pi as 32-bit words, by Machin: pi = 16 arctan(1/5) - 4 arctan(1/239). */
function fractionOfPi(wordCount: number): Uint32Array {
  const guardBits = 64n;
  const one = 1n << (BigInt(wordCount * 32) + guardBits);
  let fraction = (16n * arctanOfInverse(5n, one) - 4n * arctanOfInverse(239n, one) - 3n * one) >> guardBits;
  const words = new Uint32Array(wordCount);
  for (let i = wordCount - 1; i >= 0; i--) {
    words[i] = Number(fraction & 0xffffffffn);
    fraction >>= 32n;
  }
  return words;
}

/** arctan(1/x), scaled by `one`; each term is short by less than 1, which the guard bits take up. */
function arctanOfInverse(x: bigint, one: bigint): bigint {
  let power = one / x;
  let sum = power;
  for (let n = 3n; power !== 0n; n += 2n) {
    power /= -(x * x);
    sum += power / n;
  }
  return sum;
}
