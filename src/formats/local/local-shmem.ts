/*
 * The shmem file of an installation, through which its programs agree on who writes where. Of it only the start is read, the rest kept.
 * Little-endian.
 *
 *   0x000  version       u32    4 or 5
 *   0x004  header size   u32    0x150 in version 4, 0x154 or 0x258 in version 5
 *   0x008  data folder   256    "Global\" and its path, NUL-terminated
 *   0x108  free size     u32    0x2ab8: of the table of free space
 *   0x10C  free offset   u32    where that table begins
 *   0x110  generations   u32 × 16, of the .idx file of each bucket
 *
 * Known from wowdev.wiki (CASC) and checked on a real file of 2014.
 */

import { formatError } from '../../core/errors.ts';
import { ByteReader } from '../../core/reader.ts';
import { ByteWriter } from '../../core/writer.ts';
import type { Format } from '../format.ts';

const what = 'shmem';
const pathSize = 0x100;
const bucketCount = 16;
const freeTableSize = 0x2ab8;
const fixedSize = 0x150;

/** The start of a shmem file. */
export interface Shmem {
  version: 4 | 5;
  headerSize: number;
  /** As written: `Global\C:/Games/World of Warcraft/Data/data`. */
  dataFolder: string;
  freeTable: { offset: number; size: number };
  /** The .idx file of each bucket that is in use. */
  generations: number[];
  /** Everything behind them, as it is. */
  rest?: Uint8Array;
}

/** Told by its version and the size of its table of free space. */
export const shmemFormat: Format = {
  name: what,
  matches(head) {
    if (head.length < fixedSize) return false;
    const reader = new ByteReader(head, what, 0x108);
    return reader.u32le() === freeTableSize && (head[0] === 4 || head[0] === 5);
  },
};

/** Reads the start of a shmem file. @throws E_FORMAT… */
export function decodeShmem(bytes: Uint8Array): Shmem {
  const reader = new ByteReader(bytes, what);
  const version = reader.version('u32le', 4, 5);
  const headerSize = reader.u32le();
  const dataFolder = reader.sub(pathSize).cstring();
  const freeTable = { size: reader.u32le(), offset: reader.u32le() };
  if (freeTable.size !== freeTableSize || headerSize < fixedSize || freeTable.offset + freeTable.size > bytes.length) {
    const facts = { offset: 0x108, expected: freeTableSize, found: freeTable.size };
    throw formatError('E_FORMAT_RANGE', what, 'its table of free space does not lie in it', facts);
  }
  const generations = Array.from({ length: bucketCount }, () => reader.u32le());
  return { version, headerSize, dataFolder, freeTable, generations, rest: reader.take(reader.remaining) };
}

/**
 * Writes a shmem file; without a rest only its start, up to the table of free space. Bytes behind the NUL of the folder are zeros.
 * @throws E_FORMAT_RANGE for a folder that is too long
 */
export function encodeShmem({ version, headerSize, dataFolder, freeTable, generations, rest }: Shmem): Uint8Array {
  const path = new ByteWriter(pathSize).cstring(dataFolder).bytes();
  if (path.length > pathSize) throw formatError('E_FORMAT_RANGE', what, 'the path of the folder is too long');
  const writer = new ByteWriter(headerSize).u32le(version).u32le(headerSize).raw(path);
  writer
    .padTo(8 + pathSize)
    .u32le(freeTable.size)
    .u32le(freeTable.offset);
  for (let bucket = 0; bucket < bucketCount; bucket++) writer.u32le(generations[bucket] ?? 0);
  return rest === undefined ? writer.padTo(headerSize).bytes() : writer.raw(rest).bytes();
}
