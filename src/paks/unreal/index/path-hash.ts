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
import type { ByteReader } from '../../../core/reader.ts';
import type { ByteWriter } from '../../../core/writer.ts';

const fnvStart = 0xcbf29ce484222325n;
const fnvPrime = 0x100000001b3n;
const max64 = 0xffffffffffffffffn;
const rowSize = 12;

/** Hash of a path as a PAK of this version has it. */
export function pathHash(path: string, seed: bigint, version: number): bigint {
  const [start, prime] = version === 10 ? [fnvPrime, fnvStart] : [fnvStart, fnvPrime];
  let hash = (start + seed) & max64;
  for (const byte of Buffer.from(path.toLowerCase(), 'utf16le')) hash = ((hash ^ BigInt(byte)) * prime) & max64;
  return hash;
}

/** The rows of a path-hash index, which stay bytes until they are asked for. */
export type PathHashRows = Iterable<[hash: bigint, location: number]>;

/** Reads the rows; the reader then stands at the directory. Throws E_FORMAT_TRUNCATED. */
export function readPathHashRows(reader: ByteReader): PathHashRows {
  const bytes = reader.take(reader.count(reader.u32le(), rowSize) * rowSize);
  return { [Symbol.iterator]: () => decodeRows(bytes) };
}

function* decodeRows(bytes: Uint8Array): Generator<[hash: bigint, location: number]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; at += rowSize) yield [view.getBigUint64(at, true), view.getInt32(at + 8, true)];
}

/** Writes the rows of a path-hash index; the directory that ends it is the caller's. A row whose path is not known has its hash. */
export function writePathHashIndex(
  writer: ByteWriter,
  files: readonly { name: string; hash?: bigint | undefined; location: number }[],
  { seed, version }: { seed: bigint; version: number },
): void {
  writer.u32le(files.length);
  for (const { name, hash, location } of files) {
    writer.u64le(hash ?? pathHash(name, seed, version)).i32le(location);
  }
}
