/*
 * The PAK of Quake and of the games built on it. Numbers are little-endian. The engines read them as signed and so see nothing
 * past 2 GiB; other tools write on, and here they are read as unsigned.
 *
 *   magic             4    "PACK", or "SPAK" in SiN
 *   directory offset  u32  anywhere in the file, mostly at its end
 *   directory size    u32  in bytes
 *
 * The directory is a row of records:
 *
 *                     PACK  SPAK  Daikatana
 *   name              56    120   56         up to the first NUL; what follows it is garbage in real files; a name that
 *                                            fills the field has no NUL
 *   offset            u32   u32   u32
 *   size              u32   u32   u32        after decoding
 *   stored size                   u32        meaningful for a compressed entry
 *   is compressed                 i32        0 or 1
 *
 * Daikatana has the magic of Quake; only the size and the sense of the directory tell them apart. Entries may overlap,
 * and have no order. (id Software's WinQuake; checked on real files of Quake, by description for the others.)
 */
import { viewOf } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import { cleanName, type NameDecoder } from '../names.ts';

/** Bytes of the header. */
export const quakeHeaderSize = 12;

/** One of the three shapes of the directory. */
export interface QuakeLayout {
  readonly variant: 'PACK' | 'SPAK' | 'Daikatana';
  readonly game: string;
  readonly nameSize: number;
  readonly recordSize: number;
}

/** Quake, Quake II, Half-Life, Hexen II and most others. */
export const packLayout: QuakeLayout = { variant: 'PACK', game: 'Quake and its kin', nameSize: 56, recordSize: 64 };
/** SiN. */
export const spakLayout: QuakeLayout = { variant: 'SPAK', game: 'SiN', nameSize: 120, recordSize: 128 };
/** Daikatana, whose entries may be compressed. */
const daikatanaLayout: QuakeLayout = { variant: 'Daikatana', game: 'Daikatana', nameSize: 56, recordSize: 72 };

/** The header of a PAK, its numbers as stored and not yet checked. */
export interface QuakeHeader {
  magic: string;
  directoryOffset: number;
  directorySize: number;
}

/** One record, its numbers as stored and not yet checked. */
export interface QuakeRecord {
  name: string;
  offset: number;
  size: number;
  storedSize: number;
  isCompressed: boolean;
}

/** Decodes the 12 bytes of the header, whatever its magic. Throws E_FORMAT_TRUNCATED. */
export function decodeQuakeHeader(bytes: Uint8Array): QuakeHeader {
  const reader = new ByteReader(bytes, 'Quake PAK header');
  return { magic: reader.latin1(4), directoryOffset: reader.u32le(), directorySize: reader.u32le() };
}

/** Decodes the records of a directory; bytes behind the last whole one are left alone, as the engines do. */
export function decodeQuakeDirectory(bytes: Uint8Array, layout: QuakeLayout, decodeName: NameDecoder): QuakeRecord[] {
  const reader = new ByteReader(bytes, 'Quake PAK directory');
  const records: QuakeRecord[] = [];
  while (reader.remaining >= layout.recordSize) {
    const start = reader.pos;
    const length = reader.take(layout.nameSize).indexOf(0);
    const name = cleanName(decodeName(bytes, start, length < 0 ? reader.pos : start + length));
    const offset = reader.u32le();
    const size = reader.u32le();
    const storedSize = layout === daikatanaLayout ? reader.u32le() : size;
    const isCompressed = layout === daikatanaLayout && reader.i32le() !== 0;
    records.push({ name, offset, size, storedSize: isCompressed ? storedSize : size, isCompressed });
  }
  return records;
}

/** The fault of a record in a file of this size, or undefined. */
export function recordProblem({ offset, storedSize }: QuakeRecord, fileSize: number): string | undefined {
  if (offset + storedSize > fileSize) return `its ${storedSize} bytes at offset ${offset} end past the end of the file`;
  return undefined;
}

/** The layout of a directory behind the magic "PACK": the one in which it makes sense, Quake's when both do. */
export function choosePackLayout(bytes: Uint8Array, fileSize: number): QuakeLayout {
  if (bytes.length % packLayout.recordSize === 0 && isSensible(bytes, packLayout, fileSize)) return packLayout;
  if (bytes.length % daikatanaLayout.recordSize === 0 && isSensible(bytes, daikatanaLayout, fileSize)) {
    return daikatanaLayout;
  }
  return packLayout;
}

/** True when every whole record has a name that could be one, and lies inside the file. */
export function isSensible(bytes: Uint8Array, layout: QuakeLayout, fileSize: number): boolean {
  const view = viewOf(bytes);
  for (let at = 0; at + layout.recordSize <= bytes.length; at += layout.recordSize) {
    const numbers = at + layout.nameSize;
    const offset = view.getUint32(numbers, true);
    const size = view.getUint32(numbers + 4, true);
    const compressed = layout === daikatanaLayout ? view.getInt32(numbers + 12, true) : 0;
    const stored = compressed === 1 ? view.getUint32(numbers + 8, true) : size;
    if (bytes[at]! <= 0x20 || compressed < 0 || compressed > 1) return false;
    if (offset + stored > fileSize) return false;
  }
  return true;
}

/** Throws E_FORMAT_TRUNCATED for a directory that a file of this size cannot have. */
export function checkDirectoryRange(header: QuakeHeader, fileSize: number): void {
  const { directoryOffset, directorySize } = header;
  const what = 'Quake PAK header';
  if (directoryOffset + directorySize > fileSize) {
    const problem = `the directory ends at ${directoryOffset + directorySize}, the file at ${fileSize}`;
    throw formatError('E_FORMAT_TRUNCATED', what, problem, { offset: 4 });
  }
}

/*
 * The marks by which the engine of Quake knows its own files: the number of entries of pak0.pak and a CRC-16 over its
 * directory as stored (polynomial 0x1021, start 0xFFFF, most significant bit first, nothing at the end). Any other PAK
 * makes the game "modified", and a modified game does not start without gfx/pop.lmp of the registered version.
 * (WinQuake checks 1.06 only; the other values are those of QuakeSpasm and QuakeWorld.)
 */

const releases = [
  { entries: 339, crc: 32981, name: 'Quake 1.06' },
  { entries: 339, crc: 62751, name: 'Quake 1.01' },
  { entries: 339, crc: 13900, name: 'Quake 1.00' },
  { entries: 339, crc: 52883, name: 'QuakeWorld' },
  { entries: 308, crc: 28804, name: 'Quake 0.91 or 0.92 (pre-release)' },
];

/** The entry that only the registered version has, and its size. */
export const registeredProof = { name: 'gfx/pop.lmp', size: 256 } as const;

/** The release whose pak0.pak has this many entries and this directory CRC, or undefined. */
export function quakeRelease(entries: number, crc: number): string | undefined {
  return releases.find((release) => release.entries === entries && release.crc === crc)?.name;
}

/** What eight steps of the CRC make of each byte: a directory may have many megabytes. */
const crcTable = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/** CRC-16 as the engine takes it over a directory. */
export function quakeCrc16(bytes: Uint8Array): number {
  let crc = 0xffff;
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ crcTable[(crc >>> 8) ^ byte]!;
  return crc;
}
