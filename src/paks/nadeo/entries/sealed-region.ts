import type { BlowfishKey } from '../../../codecs/ciphers/blowfish.ts';
import { concatBytes } from '../../../core/bytes.ts';
import { CipherStream, paddedSize, pageSize } from './cipher-stream.ts';

/**
 * The opposite of PlainRegion: a page is encrypted when its first byte is taken, with the feedback that was mixed by
 * then. Whoever takes the plain bytes as the game would, mixing what it would mix, leaves behind what the game can
 * read.
 */
export class SealedRegion {
  readonly #plain: Uint8Array;
  readonly #iv: Uint8Array;
  readonly #stream: CipherStream;
  readonly #sealed: Uint8Array;
  #taken = 0;
  #sealedSize = 0;

  /** @param iv 8 bytes, written in front */
  constructor(plain: Uint8Array, { key, iv, version }: { key: BlowfishKey; iv: Uint8Array; version: number }) {
    this.#plain = plain;
    this.#iv = iv;
    this.#stream = new CipherStream(key, iv, version);
    this.#sealed = new Uint8Array(paddedSize(plain.length));
    this.#sealed.set(plain);
  }

  get remaining(): number {
    return this.#plain.length - this.#taken;
  }

  mix(bytes: Uint8Array): void {
    this.#stream.mix(bytes);
  }

  take(size: number): Uint8Array {
    const start = this.#taken;
    this.#taken = Math.min(start + size, this.#plain.length);
    while (this.#sealedSize < this.#taken) {
      const page = this.#sealed.subarray(this.#sealedSize, this.#sealedSize + pageSize);
      this.#stream.encrypt(page);
      this.#sealedSize += page.length;
    }
    return this.#plain.subarray(start, this.#taken);
  }

  /** IV and ciphertext of everything; what was not taken yet is encrypted with the feedback as it is. */
  bytes(): Uint8Array {
    this.take(this.remaining);
    return concatBytes([this.#iv, this.#sealed]);
  }
}
