import { equalBytes, fromHex, toHex } from '../core/bytes.ts';
import { PakratError } from '../core/errors.ts';
import { type Hasher, md5, md5Hasher } from '../core/hash.ts';
import { type BlteHeader, bltePrefixSize, decodeBlteHeader, decodeBltePrefix } from '../formats/blte/header.ts';

/** Where verified bytes of an entry go. Offsets count from the start of the entry. */
export interface VerifiedSink {
  /** Takes bytes whose hash was right. */
  write(offset: number, pieces: readonly Uint8Array[]): void;
  /** Room on disk for bytes that are too many to hold in memory until their hash is known. */
  spool(): Spool;
}

/** Bytes that wait on disk for their hash. */
export interface Spool {
  append(piece: Uint8Array): void;
  /** Hands the bytes to `take`, in pieces. */
  replay(take: (piece: Uint8Array) => void): void;
  close(): void;
}

/** Up to this many bytes wait in memory until their hash is known; more wait in a spool. */
const memoryLimit = 2 * 1024 * 1024;
/** A header of 350,000 chunks. Entries of real builds are far below. */
const headerLimit = memoryLimit;

/** The stretch of an entry that one hash covers: the header, a chunk, or a whole entry without a chunk table. */
interface Unit {
  start: number;
  end: number;
  md5: Uint8Array | undefined;
}

/**
 * Checks an encoded entry while it arrives: the header's MD5 is the ekey, the header has the MD5 of each chunk. So an entry can be
 * verified, kept and resumed chunk by chunk. Without a chunk table the ekey is the MD5 of the whole, and nothing is right before the end.
 * No key is needed: hashes are over the encoded bytes.
 */
export class EntryVerifier {
  /** Bytes from the entry's start that are verified and were given to the sink. */
  verified = 0;
  readonly #ekey: Uint8Array;
  /** Encoded size of the entry. */
  readonly size: number;
  readonly #sink: VerifiedSink;
  readonly #raw: boolean;
  #pos = 0;
  #header: BlteHeader | undefined;
  #unit: Unit;
  #chunk = -1;
  #hash: Hasher = md5Hasher();
  #pieces: Uint8Array[] = [];
  #spool: Spool | undefined;

  /** @param entry ekey in hex and encoded size; `raw` for a patch, which is no BLTE: its key is the MD5 of its bytes */
  constructor(entry: { ekey: string; size: number; raw?: boolean | undefined }, sink: VerifiedSink) {
    this.#raw = entry.raw === true;
    this.#ekey = fromHex(entry.ekey);
    this.size = entry.size;
    this.#sink = sink;
    this.#unit = { start: 0, end: this.#raw ? entry.size : bltePrefixSize, md5: undefined };
    if (!this.#raw && entry.size < bltePrefixSize + 1) throw this.#wrong('is too small for a BLTE object');
  }

  /** True when the whole entry is verified. */
  get done(): boolean {
    return this.verified === this.size;
  }

  /**
   * Goes on behind the `held` bytes that the store has. `header` reads the first bytes of the entry from there.
   * @returns where to go on: the last chunk boundary in what is held, 0 when what is held is no longer what it was
   */
  resume(held: number, header: (size: number) => Uint8Array): number {
    const bytes = this.#raw ? undefined : heldHeader(held, header);
    if (bytes === undefined || !equalBytes(md5(bytes), this.#ekey)) return 0;
    this.#openHeader(bytes);
    let boundary = bytes.length;
    for (let i = 0; i < this.#header!.count; i++) {
      const chunk = this.#header!.chunk(i);
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
   * Takes the next bytes of the entry.
   * @throws E_INTEGRITY or E_FORMAT… when they are wrong; what was verified before stays so
   */
  push(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; ) {
      const part = bytes.subarray(from, from + this.#unit.end - this.#pos);
      if (part.length === 0) throw this.#wrong('has bytes behind its end');
      this.#keep(part);
      this.#pos += part.length;
      from += part.length;
      if (this.#pos === this.#unit.end) this.#closeUnit();
    }
  }

  /** Lets go of what waits for its hash. */
  close(): void {
    this.#spool?.close();
    this.#spool = undefined;
    this.#pieces = [];
  }

  #keep(part: Uint8Array): void {
    this.#hash.update(part);
    if (this.#unit.end - this.#unit.start > memoryLimit) {
      this.#spool ??= this.#sink.spool();
      for (const piece of this.#pieces.splice(0)) this.#spool.append(piece);
      this.#spool.append(part);
    } else {
      this.#pieces.push(part);
    }
  }

  /** Ends the unit that is complete. */
  #closeUnit(): void {
    if (!this.#raw && this.#header === undefined && this.#unit.end === bltePrefixSize) {
      this.#growPrefix();
      return;
    }
    const digest = this.#hash.digest();
    if (this.#header === undefined) {
      if (!equalBytes(digest, this.#ekey)) throw this.#wrong(`hashes to ${toHex(digest)}`);
      if (this.#unit.end !== this.size) this.#openHeader(join(this.#pieces));
    } else if (this.#unit.md5 !== undefined && !equalBytes(digest, this.#unit.md5)) {
      throw this.#wrong(`has a wrong chunk ${this.#chunk} at offset ${this.#unit.start}`);
    }
    this.#release();
    this.#nextUnit();
  }

  /** The first 8 bytes tell how long the header is, or that the whole entry is one chunk without a table. */
  #growPrefix(): void {
    const headerSize = decodeBltePrefix(join(this.#pieces));
    if (headerSize > Math.min(this.size, headerLimit)) throw this.#wrong(`claims a header of ${headerSize} bytes`);
    const end = headerSize === bltePrefixSize ? this.size : headerSize;
    this.#unit = { start: 0, end, md5: this.#ekey };
  }

  #openHeader(bytes: Uint8Array): void {
    this.#header = decodeBlteHeader(bytes, this.size);
  }

  #release(): void {
    let offset = this.#unit.start;
    if (this.#spool === undefined) {
      this.#sink.write(offset, this.#pieces);
    } else {
      this.#spool.replay((piece) => {
        this.#sink.write(offset, [piece]);
        offset += piece.length;
      });
    }
    this.close();
    this.verified = this.#unit.end;
  }

  #nextUnit(): void {
    this.#hash = md5Hasher();
    const count = this.#header?.count ?? 0;
    do this.#chunk += 1;
    while (this.#chunk < count && this.#header!.chunk(this.#chunk).encodedSize === 0);
    const chunk = this.#chunk < count ? this.#header!.chunk(this.#chunk) : undefined;
    this.#unit =
      chunk === undefined
        ? { start: this.size, end: this.size, md5: undefined }
        : { start: chunk.offset, end: chunk.offset + chunk.encodedSize, md5: chunk.md5 };
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

function join(pieces: readonly Uint8Array[]): Uint8Array {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}
