/*
 * The encryption of a NadeoPak. Every encrypted region (the header, each file, the metadata) is
 *
 *   IV           8 bytes, plain: the first chaining value, a little-endian u64
 *   ciphertext   blocks of 8 bytes, the last one filled up
 *
 * Block by block: plain = decrypt(cipher) ^ iv, and then
 *   versions below 12   iv = cipher
 *   12 and above        iv = (iv >> 47) ^ (iv * 9) ^ cipher   (mod 2^64)
 *
 * Before each page of 256 plain bytes the chaining value is also xored with the *feedback*, a 64-bit number that the
 * reader mixes from what it has read meanwhile (a folder name in the header, class ids in GBX files), and the feedback
 * is cleared. So a page must not be decrypted before everything in front of it has been looked at.
 *
 * (Mania Tech Wiki, PAK; the chaining of version 12 and the counter mode are told by one source each.)
 */

import { type BlowfishKey, blowfishDecrypt, blowfishEncrypt, blowfishKey } from '../../../codecs/ciphers/blowfish.ts';
import { viewOf } from '../../../core/bytes.ts';

/** Plain bytes between two points at which feedback takes effect. */
export const pageSize = 0x100;
/** Bytes of the IV in front of an encrypted region. */
export const ivSize = 8;
const blockSize = 8;

/** The first version with the 8-round cipher (and with LZ4 in place of zlib). */
export const firstVersionOfEightRounds = 18;
const firstVersionOfNineChaining = 12;

/** The key schedule that packs of a version use for a 16-byte key. */
export function packCipherKey(key: Uint8Array, version: number): BlowfishKey {
  return blowfishKey(key, version >= firstVersionOfEightRounds ? 8 : 16);
}

/** Bytes that `size` plain bytes take as ciphertext, without the IV. */
export function paddedSize(size: number): number {
  return Math.ceil(size / blockSize) * blockSize;
}

/** One encrypted region, from its start to its end, in one direction. */
export class CipherStream {
  readonly #key: BlowfishKey;
  readonly #nineChaining: boolean;
  readonly #block = new Uint32Array(2);
  #ivLow: number;
  #ivHigh: number;
  #feedbackLow = 0;
  #feedbackHigh = 0;
  #position = 0;

  /** @param iv the 8 bytes in front of the region */
  constructor(key: BlowfishKey, iv: Uint8Array, version: number) {
    const view = viewOf(iv);
    this.#key = key;
    this.#nineChaining = version >= firstVersionOfNineChaining;
    this.#ivLow = view.getUint32(0, true);
    this.#ivHigh = view.getUint32(4, true);
  }

  /** The feedback that the next page will take, as a 64-bit number. */
  get feedback(): bigint {
    return (BigInt(this.#feedbackHigh) << 32n) | BigInt(this.#feedbackLow);
  }

  /** Mixes some bytes into the feedback: per byte a rotation by 13 bits, then the byte with every second bit set. */
  mix(bytes: Uint8Array): void {
    for (const byte of bytes) {
      const low = this.#feedbackLow;
      const high = this.#feedbackHigh;
      this.#feedbackLow = (((low << 13) | (high >>> 19)) ^ (byte | 0xaa)) >>> 0;
      this.#feedbackHigh = ((high << 13) | (low >>> 19)) >>> 0;
    }
  }

  /** Decrypts the next bytes of the region in place; their number is a multiple of 8. */
  decrypt(bytes: Uint8Array): void {
    const view = viewOf(bytes);
    const block = this.#block;
    for (let at = 0; at < bytes.length; at += blockSize) {
      const low = view.getUint32(at, true);
      const high = view.getUint32(at + 4, true);
      this.#startBlock();
      block[0] = low;
      block[1] = high;
      blowfishDecrypt(this.#key, block);
      view.setUint32(at, block[0]! ^ this.#ivLow, true);
      view.setUint32(at + 4, block[1]! ^ this.#ivHigh, true);
      this.#endBlock(low, high);
    }
  }

  /** The opposite of {@link decrypt}. */
  encrypt(bytes: Uint8Array): void {
    const view = viewOf(bytes);
    const block = this.#block;
    for (let at = 0; at < bytes.length; at += blockSize) {
      this.#startBlock();
      block[0] = view.getUint32(at, true) ^ this.#ivLow;
      block[1] = view.getUint32(at + 4, true) ^ this.#ivHigh;
      blowfishEncrypt(this.#key, block);
      view.setUint32(at, block[0], true);
      view.setUint32(at + 4, block[1], true);
      this.#endBlock(block[0], block[1]);
    }
  }

  #startBlock(): void {
    if (this.#position % pageSize !== 0) return;
    this.#ivLow ^= this.#feedbackLow;
    this.#ivHigh ^= this.#feedbackHigh;
    this.#feedbackLow = 0;
    this.#feedbackHigh = 0;
  }

  #endBlock(cipherLow: number, cipherHigh: number): void {
    this.#position += blockSize;
    if (!this.#nineChaining) {
      this.#ivLow = cipherLow;
      this.#ivHigh = cipherHigh;
      return;
    }
    const low = this.#ivLow >>> 0;
    const high = this.#ivHigh >>> 0;
    const lowNine = low * 9;
    const carry = Math.floor(lowNine / 0x1_0000_0000);
    // Bit operations take a number modulo 2^32, which is what the product needs.
    this.#ivLow = (high >>> 15) ^ lowNine ^ cipherLow;
    this.#ivHigh = (high * 9 + carry) ^ cipherHigh;
  }
}

/**
 * Decrypts a part of a seekable file of version 18, in place. Such files are not chained: block k of page b is xored
 * with the encryption of the number IV + 8 + 256 b + k, and feedback has no part in it.
 * @param offset of the bytes inside the region, a multiple of 8
 */
export function decryptCounted(key: BlowfishKey, iv: Uint8Array, offset: number, bytes: Uint8Array): void {
  const start = viewOf(iv).getBigUint64(0, true) + 8n;
  const view = viewOf(bytes);
  const block = new Uint32Array(2);
  for (let at = 0; at < bytes.length; at += blockSize) {
    const position = offset + at;
    const page = Math.floor(position / pageSize);
    const counter = start + BigInt(page * pageSize + (position % pageSize) / blockSize);
    block[0] = Number(counter & 0xffffffffn);
    block[1] = Number((counter >> 32n) & 0xffffffffn);
    blowfishEncrypt(key, block);
    view.setUint32(at, view.getUint32(at, true) ^ block[0], true);
    view.setUint32(at + 4, view.getUint32(at + 4, true) ^ block[1], true);
  }
}
