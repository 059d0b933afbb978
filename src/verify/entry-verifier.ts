import { equalBytes, fromHex, toHex } from '../core/bytes.ts';
import { isPakratError, isStoreTrouble, PakratError } from '../core/errors.ts';
import { type Hasher, md5, md5Hasher } from '../core/hash.ts';
import { type BlteHeader, bltePrefixSize, decodeBlteHeader, decodeBltePrefix } from '../formats/blte/header.ts';
import type { HashStream, Spool } from './hash-buffer.ts';

/** A header of 350,000 chunks: larger ones are called wrong. Entries of real builds are far below. */
export const headerLimit = 2 * 1024 * 1024;

/** The stretch of an entry that one hash covers: the header, a chunk, or a whole entry without a chunk table. */
interface Unit {
  start: number;
  end: number;
  md5: Uint8Array | undefined;
}

/** An entry that is to be verified. */
export interface VerifiedEntry {
  /** Hex; its first digits only where no more is known, as in an installation. */
  ekey: string;
  /** Encoded size. */
  size: number;
  /** Its start in the object; 0 unless given. */
  offset?: number;
  /** A patch, which is no BLTE: its key is the MD5 of its bytes. */
  raw?: boolean | undefined;
}

/**
 * Checks an encoded entry while it arrives: the header's MD5 is the ekey, the header has the MD5 of each chunk. So an entry can be
 * verified, kept and resumed chunk by chunk. Without a chunk table the ekey is the MD5 of the whole, and nothing is right before the end.
 * No key is needed: hashes are over the encoded bytes. Bytes wait in a buffer for their hash, several entries one after the other in one stream;
 * what is wrong may be found a little later than it came, when the buffer is flushed.
 */
export class EntryVerifier {
  /** Bytes from the entry's start that are verified and were given to the sink. */
  verified = 0;
  /** The first thing that was wrong with the entry: nothing of it is taken any more. */
  failure: PakratError | undefined;
  readonly #entry: VerifiedEntry;
  readonly #ekey: Uint8Array;
  readonly #stream: HashStream;
  #pos = 0;
  #header: BlteHeader | undefined;
  /** Its header has a table of chunks, which must fill it: one that ends with its header is cut. */
  #hasTable = false;
  #unit: Unit;
  #chunk = -1;
  /** For a unit that is too large for the buffer: it is hashed as it comes, and waits on disk. */
  #large: { hash: Hasher; spool: Spool } | undefined;

  /** @throws E_INTEGRITY for a size that no entry has */
  constructor(entry: VerifiedEntry, stream: HashStream) {
    this.#entry = entry;
    this.#ekey = fromHex(entry.ekey);
    this.#stream = stream;
    this.#unit = { start: 0, end: this.#raw ? entry.size : bltePrefixSize, md5: this.#raw ? this.#ekey : undefined };
    if (!this.#raw && entry.size < bltePrefixSize + 1) throw this.#wrong('is too small for a BLTE object');
  }

  get #raw(): boolean {
    return this.#entry.raw === true;
  }

  /** Encoded size of the entry. */
  get size(): number {
    return this.#entry.size;
  }

  /** True when the whole entry is verified. */
  get done(): boolean {
    return this.verified === this.size;
  }

  /**
   * Goes on behind the `held` bytes that the store has. `readStart` reads the first bytes of the entry from there.
   * @returns where to go on: the last chunk boundary in what is held, 0 when what is held is no longer what it was
   */
  resume(held: number, readStart: (size: number) => Uint8Array): number {
    const bytes = this.#raw ? undefined : heldHeader(held, readStart);
    if (bytes === undefined || !this.#hasKey(md5(bytes))) return 0;
    const header = decodeBlteHeader(bytes, this.size);
    this.#header = header;
    let boundary = bytes.length;
    for (let i = 0; i < header.count; i++) {
      const chunk = header.chunk(i);
      if (chunk.offset + chunk.encodedSize > held) break;
      boundary = chunk.offset + chunk.encodedSize;
      this.#chunk = i;
    }
    this.verified = boundary;
    this.#pos = boundary;
    this.#nextUnit();
    return boundary;
  }

  /**
   * Takes the next bytes of the entry. Complete units are hashed with the buffer.
   * @throws E_INTEGRITY or E_FORMAT… when they, or bytes before them, are wrong; what was verified before stays so. E_STORE… from the sink
   */
  push(bytes: Uint8Array): void {
    try {
      if (this.failure !== undefined) throw this.failure;
      // Mostly the first bytes come together, and what they begin is known before any of it is kept.
      if (this.#pos === 0 && !this.#raw && bytes.length >= bltePrefixSize) this.#unit = this.#unitBehind(bytes);
      for (let from = 0; from < bytes.length; ) {
        const part = bytes.subarray(from, from + this.#unit.end - this.#pos);
        if (part.length === 0) throw this.#wrong('has bytes behind its end');
        this.#keep(part);
        this.#pos += part.length;
        from += part.length;
        if (this.#pos === this.#unit.end) this.#closeUnit();
      }
    } catch (error) {
      this.close();
      if (isPakratError(error) && !isStoreTrouble(error)) this.failure ??= error;
      throw error;
    }
  }

  /** Hashes what waits, and throws what was wrong: for an entry that is checked by itself. @throws as {@link push} */
  flush(): void {
    this.#stream.flush();
    if (this.failure !== undefined) throw this.failure;
  }

  /** Lets go of bytes of an incomplete unit: before another entry comes into the stream. */
  close(): void {
    if (this.#large === undefined) this.#stream.dropOpen();
    this.#large?.spool.close();
    this.#large = undefined;
  }

  #keep(part: Uint8Array): void {
    if (this.#large === undefined && this.#stream.open === undefined) this.#begin();
    if (this.#large === undefined) {
      this.#stream.append(part);
    } else {
      this.#large.hash.update(part);
      this.#large.spool.append(part);
    }
  }

  /** Makes room for the whole unit: in the buffer, or on disk where it is too large for that. */
  #begin(): void {
    const hasRoom = this.#stream.begin(this.#unit.end - this.#unit.start);
    if (!hasRoom) this.#large = this.#openLarge();
    // Units that waited may have been hashed, and some of them may have been wrong.
    if (this.failure !== undefined) throw this.failure;
  }

  /** An entry is verified from its start on: what waits in front of a large unit is hashed first. */
  #openLarge(): { hash: Hasher; spool: Spool } {
    const begun = this.#stream.openBytes.slice();
    this.#stream.dropOpen();
    this.flush();
    const large = { hash: md5Hasher(), spool: this.#stream.sink.spool() };
    large.hash.update(begun);
    large.spool.append(begun);
    return large;
  }

  /** Ends the unit that is complete. */
  #closeUnit(): void {
    if (this.#large !== undefined) {
      this.#closeLarge(this.#large);
    } else if (this.#header === undefined && this.#unit.end === bltePrefixSize && !this.#raw) {
      this.#growPrefix();
      return;
    } else if (this.#header === undefined && this.#hasTable) {
      // The chunks that come next are cut by the header: it is checked at once.
      const bytes = this.#stream.openBytes;
      const digest = md5(bytes);
      if (!this.#hasKey(digest)) throw this.#wrong(`hashes to ${toHex(digest)}`);
      this.#header = decodeBlteHeader(bytes.slice(), this.size);
      this.#submit(undefined);
    } else {
      this.#submit(this.#unit.md5);
    }
    this.#nextUnit();
  }

  #submit(expected: Uint8Array | undefined): void {
    const { start, end } = this.#unit;
    const position = (this.#entry.offset ?? 0) + start;
    const what =
      this.#header === undefined ? 'hashes to another key' : `has a wrong chunk ${this.#chunk} at offset ${start}`;
    const onHashed = (isRight: boolean): boolean => {
      // Behind a wrong unit nothing is taken: what is verified is so from the start on.
      if (this.verified !== start) return false;
      if (isRight) this.verified = end;
      else this.failure ??= this.#wrong(what);
      return isRight;
    };
    this.#stream.submit({ position, md5: expected, onHashed });
  }

  #closeLarge({ hash, spool }: { hash: Hasher; spool: Spool }): void {
    const digest = hash.digest();
    const { start, end, md5: expected } = this.#unit;
    if (expected === undefined || !equalBytes(digest.subarray(0, expected.length), expected)) {
      throw this.#wrong(`has wrong bytes from offset ${start} on`);
    }
    let position = (this.#entry.offset ?? 0) + start;
    spool.replay((piece) => {
      this.#stream.sink.write(position, piece);
      position += piece.length;
    });
    this.close();
    this.verified = end;
  }

  #growPrefix(): void {
    this.#unit = this.#unitBehind(this.#stream.openBytes);
    this.#begin();
  }

  /** The first 8 bytes tell how long the header is, or that the whole entry is one chunk without a table. */
  #unitBehind(prefix: Uint8Array): Unit {
    const headerSize = decodeBltePrefix(prefix);
    if (headerSize > Math.min(this.size, headerLimit)) throw this.#wrong(`claims a header of ${headerSize} bytes`);
    this.#hasTable = headerSize !== bltePrefixSize;
    const end = this.#hasTable ? headerSize : this.size;
    return { start: 0, end, md5: this.#ekey };
  }

  #nextUnit(): void {
    this.#chunk += 1;
    if (this.#header !== undefined && this.#chunk < this.#header.count) {
      const { offset, encodedSize, md5: expected } = this.#header.chunk(this.#chunk);
      this.#unit = { start: offset, end: offset + encodedSize, md5: expected };
    } else {
      this.#unit = { start: this.size, end: this.size, md5: undefined };
      // A range has thousands of entries, and their verifiers stay until it ends.
      this.#header = undefined;
    }
  }

  #hasKey(digest: Uint8Array): boolean {
    return equalBytes(digest.subarray(0, this.#ekey.length), this.#ekey);
  }

  #wrong(problem: string): PakratError {
    const ekey = toHex(this.#ekey);
    return new PakratError('E_INTEGRITY', `entry ${ekey} ${problem}`, { data: { ekey, size: this.size } });
  }
}

/** The header of an entry whose first `held` bytes are on disk; undefined when it is not all there or no header. */
function heldHeader(held: number, header: (size: number) => Uint8Array): Uint8Array | undefined {
  try {
    const size = held < bltePrefixSize ? bltePrefixSize : decodeBltePrefix(header(bltePrefixSize));
    return size > held || size === bltePrefixSize ? undefined : header(size);
  } catch {
    return undefined;
  }
}
