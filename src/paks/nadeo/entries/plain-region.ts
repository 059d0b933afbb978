import type { BlowfishKey } from '../../../codecs/ciphers/blowfish.ts';
import type { ByteSource } from '../../../core/byte-source.ts';
import { CipherStream, decryptCounted, ivSize, paddedSize, pageSize } from './cipher-stream.ts';

const chunkSize = 0x10000;

/** The cipher of a region of a pack. */
export interface RegionCipher {
  key: BlowfishKey;
  version: number;
  /** Counter mode, for seekable files of version 18. */
  isCounted?: boolean;
}

/** The place of a region: its offset (that of the IV, when encrypted) and the bytes in it, without IV and padding. */
export interface RegionPlace {
  offset: number;
  size: number;
  /** Absent for plain regions. */
  cipher?: RegionCipher | undefined;
}

/**
 * A region of a pack, read from its start on in plain. A page is decrypted when its first byte is taken and not before,
 * so what is mixed by then has its effect on it.
 */
export class PlainRegion {
  readonly #source: ByteSource;
  readonly #place: RegionPlace;
  #taken = 0;
  #stream: CipherStream | undefined;
  #iv: Uint8Array | undefined;
  /** Bytes that were read but not decrypted yet, and the number of them that were used. */
  #chunk = new Uint8Array(0);
  #chunkUsed = 0;
  #page = new Uint8Array(0);
  #pageUsed = 0;
  #pageCount = 0;

  constructor(source: ByteSource, place: RegionPlace) {
    this.#source = source;
    this.#place = place;
  }

  /** Plain bytes not yet taken. */
  get remaining(): number {
    return this.#place.size - this.#taken;
  }

  /** Pages decrypted so far. */
  get pageCount(): number {
    return this.#pageCount;
  }

  /** Mixes into the feedback of the next page. Does nothing in a region that has none. */
  mix(bytes: Uint8Array): void {
    this.#stream?.mix(bytes);
  }

  /** The next `size` bytes, fewer at the end. Throws E_FORMAT_TRUNCATED when the pack ends before. */
  async take(size: number): Promise<Uint8Array> {
    const wanted = Math.min(size, this.remaining);
    const { offset, cipher } = this.#place;
    if (cipher === undefined) {
      this.#taken += wanted;
      return this.#source.read(offset + this.#taken - wanted, wanted);
    }
    const bytes = new Uint8Array(wanted);
    for (let filled = 0; filled < wanted; ) {
      if (this.#pageUsed === this.#page.length) await this.#nextPage(cipher);
      const part = this.#page.subarray(this.#pageUsed, this.#pageUsed + wanted - filled);
      bytes.set(part, filled);
      filled += part.length;
      this.#pageUsed += part.length;
    }
    this.#taken += wanted;
    return bytes;
  }

  /** The rest in pieces of up to 64 KiB. */
  async *pieces(): AsyncGenerator<Uint8Array> {
    while (this.remaining > 0) yield await this.take(chunkSize);
  }

  async #nextPage(cipher: RegionCipher): Promise<void> {
    const position = this.#pageCount * pageSize;
    this.#iv ??= new Uint8Array(await this.#source.read(this.#place.offset, ivSize));
    if (this.#chunkUsed === this.#chunk.length) {
      const size = Math.min(chunkSize, paddedSize(this.#place.size) - position);
      // A copy: what a source gives may be its own memory, and is decrypted in place.
      this.#chunk = new Uint8Array(await this.#source.read(this.#place.offset + ivSize + position, size));
      this.#chunkUsed = 0;
    }
    this.#page = this.#chunk.subarray(this.#chunkUsed, this.#chunkUsed + pageSize);
    this.#chunkUsed += this.#page.length;
    this.#pageUsed = 0;
    this.#pageCount++;
    if (cipher.isCounted) {
      decryptCounted(cipher.key, this.#iv, position, this.#page);
      return;
    }
    this.#stream ??= new CipherStream(cipher.key, this.#iv, cipher.version);
    this.#stream.decrypt(this.#page);
  }
}
