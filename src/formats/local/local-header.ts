/*
 * The 30 bytes in front of each entry in a data.NNN file of an installation. Numbers are little-endian.
 *
 *   0   ekey       16   its bytes in reverse order
 *   16  size       u32  of the entry with these 30 bytes
 *   20  flags      u16  0
 *   22  checksum   u32  hashlittle of the 22 bytes before, seed 0x3d6be971
 *   26  place sum  4    the bytes before, xor-ed column by column, against the place of the entry in its file
 *
 * Since July 2023 the client may leave zeros or anything here, so a header that is not as it should be says nothing about the entry.
 * (wowdev.wiki CASC, CascLib; all but the place sum checked on a real entry of 2014, which was cut out of its place. The entry that lies
 * behind it in the sample has neither the checksum nor the key of its header: somebody changed it.)
 */

import { fromHex, toHex } from '../../core/bytes.ts';
import { hashLittle } from '../../core/jenkins.ts';
import { ByteReader } from '../../core/reader.ts';
import { ByteWriter } from '../../core/writer.ts';
import { blteFormat } from '../blte/header.ts';
import type { Format } from '../format.ts';

/** Bytes of the header. */
export const localHeaderSize = 30;

/** A data.NNN file, or a piece of one: told by the BLTE object behind its first header. */
export const localDataFormat: Format = {
  name: 'local data',
  matches: (head) => head.length > localHeaderSize + 8 && blteFormat.matches(head.subarray(localHeaderSize)),
};

const what = 'local entry header';
const checkedSize = 22;
const seed = 0x3d6be971;
/** Mixed into the place sum: row `place & 15`. */
const placeTable = [
  0x049396b8, 0x72a82a9b, 0xee626cca, 0x9917754f, 0x15de40b1, 0xf5a8a9b6, 0x421eac7e, 0xa9d55c9a, 0x317fd40c,
  0x04faf80d, 0x3d6be971, 0x52933cfd, 0x27f64b7d, 0xc6f5c11b, 0xd5757e3a, 0x6c388745,
] as const;

/** The fields of a header. */
export interface LocalHeader {
  /** Lower-case hex, 16 bytes. */
  ekey: string;
  /** Bytes of the entry with this header. */
  size: number;
  flags: number;
  /** Whether its own checksum is right: nobody wrote anything else into its place. */
  isIntact: boolean;
}

/** Reads a header. @throws E_FORMAT_TRUNCATED for fewer than 30 bytes */
export function decodeLocalHeader(bytes: Uint8Array): LocalHeader {
  const reader = new ByteReader(bytes, what);
  const ekey = toHex(Uint8Array.from(reader.take(16)).reverse());
  const size = reader.u32le();
  const flags = reader.u16le();
  const checksum = reader.u32le();
  reader.skip(4);
  return { ekey, size, flags, isIntact: checksum === hashLittle(bytes.subarray(0, checkedSize), seed) };
}

/** Writes a header. @param place offset of the header in its data file */
export function encodeLocalHeader(header: Omit<LocalHeader, 'isIntact'>, place: number): Uint8Array {
  const writer = new ByteWriter(localHeaderSize).raw(fromHex(header.ekey).reverse()).u32le(header.size);
  const bytes = writer.u16le(header.flags).bytes();
  return writer.u32le(hashLittle(bytes, seed)).raw(placeSum(writer.bytes(), place)).bytes();
}

/** The last four bytes: column `i & 3` of everything before, for the columns in which they lie. */
function placeSum(before: Uint8Array, place: number): Uint8Array {
  const end = (place + localHeaderSize) >>> 0;
  const mix = (placeTable[end & 15]! ^ end) >>> 0;
  const columns = [0, 8, 16, 24].map((shift) => (mix >>> shift) & 0xff);
  for (const [i, byte] of before.entries()) columns[i & 3]! ^= byte;
  return Uint8Array.from([26, 27, 28, 29], (at) => columns[at & 3]!);
}
