/*
 * The path-hash index, from version 10 on: a look-up without names. Little-endian.
 *
 *   count      i32
 *   rows       each: hash u64 · location i32
 *   directory  a directory index (directory-index.ts) of the few names that must be listed; mostly empty
 *
 * The hash is FNV-1a of 64 bits over the UTF-16LE bytes of the lower-case path below the mount point; the PAK's seed is
 * added to the start value. Version 10 had start value and prime swapped.
 * (Checked on every entry of real files of versions 11 and 12.)
 */
import { viewOf } from '../../../core/bytes.ts';
import type { ByteReader } from '../../../core/reader.ts';
import { firstNot } from '../../../core/sorting/first-not.ts';
import { orderOf } from '../../../core/sorting/merge-sort.ts';
import type { ByteWriter } from '../../../core/writer.ts';

const fnvStart = 0xcbf29ce484222325n;
const fnvPrime = 0x100000001b3n;
const max64 = 0xffffffffffffffffn;
const rowSize = 12;
const hexDigits = '0123456789abcdef';

/** Hash of a path as a PAK of this version has it. */
export function pathHash(path: string, seed: bigint, version: number): bigint {
  const text = path.toLowerCase();
  if (version !== 10) return fnv1a(text, (fnvStart + seed) & max64);
  let hash = (fnvPrime + seed) & max64;
  for (const byte of Buffer.from(text, 'utf16le')) hash = ((hash ^ BigInt(byte)) * fnvStart) & max64;
  return hash;
}

/** In two halves of 32 bits, which takes a third of the time: the prime is 2^40 and 0x1b3. */
function fnv1a(text: string, start: bigint): bigint {
  let high = Number(start >> 32n);
  let low = Number(start & 0xffffffffn);
  const take = (byte: number): void => {
    const mixed = (low ^ byte) >>> 0;
    const product = mixed * 0x1b3;
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (mixed << 8)) >>> 0;
    low = product % 2 ** 32;
  };
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    take(unit & 0xff);
    take(unit >>> 8);
  }
  return (BigInt(high) << 32n) | BigInt(low);
}

/** Bytes of the rows of a path-hash index; the reader then stands at the directory. Throws E_FORMAT_TRUNCATED. */
export function takePathHashRows(reader: ByteReader): Uint8Array {
  return reader.take(reader.count(reader.u32le(), rowSize) * rowSize);
}

/** Hashes that are looked for by going through all rows, before a table is made for the next ones. */
const fewHashes = 8;

/** The rows of a path-hash index, which stay bytes until they are asked for. */
export class PathHashTable {
  readonly count: number;
  readonly #view: DataView;
  #asked = 0;
  /** Numbers of the rows by hash, those of one hash in their order. */
  #sorted: Uint32Array | undefined;

  /** @param bytes of the rows, as {@link takePathHashRows} gives them */
  constructor(bytes: Uint8Array) {
    this.count = bytes.length / rowSize;
    this.#view = viewOf(bytes);
  }

  hashAt(row: number): bigint {
    return this.#view.getBigUint64(row * rowSize, true);
  }

  /** Writes the hash of a row as 16 hex digits in ASCII. */
  writeHex(row: number, target: Uint8Array): void {
    for (let i = 0; i < 8; i++) {
      const byte = this.#view.getUint8(row * rowSize + 7 - i);
      target[i * 2] = hexDigits.charCodeAt(byte >>> 4);
      target[i * 2 + 1] = hexDigits.charCodeAt(byte & 15);
    }
  }

  locationAt(row: number): number {
    return this.#view.getInt32(row * rowSize + 8, true);
  }

  /** The last row that has a hash, or undefined. */
  find(hash: bigint): number | undefined {
    if (this.#sorted === undefined && ++this.#asked <= fewHashes) return this.#last(hash);
    this.#sorted ??= orderOf(this.count, (a, b) => this.#compare(a, b));
    const sorted = this.#sorted;
    const row = sorted[firstNot(0, this.count, (place) => this.hashAt(sorted[place]!) <= hash) - 1];
    return row !== undefined && this.hashAt(row) === hash ? row : undefined;
  }

  #compare(a: number, b: number): number {
    const [first, second] = [a * rowSize, b * rowSize];
    const view = this.#view;
    return (
      view.getUint32(first + 4, true) - view.getUint32(second + 4, true) ||
      view.getUint32(first, true) - view.getUint32(second, true)
    );
  }

  #last(hash: bigint): number | undefined {
    const low = Number(hash & 0xffffffffn);
    for (let row = this.count - 1; row >= 0; row--) {
      if (this.#view.getUint32(row * rowSize, true) === low && this.hashAt(row) === hash) return row;
    }
    return undefined;
  }
}

/** Writes a row of a path-hash index, which stand behind their number; the directory that ends it is the caller's. */
export function writePathHashRow(writer: ByteWriter, { hash, location }: { hash: bigint; location: number }): void {
  writer.u64le(hash).i32le(location);
}
