/*
 * The frozen index that version 9 may have: an image of the engine's own structures, little-endian, aligned to 8.
 *
 *   at 0   mount point  string          string   pointer 8 · length i32, with NUL · capacity i32; UTF-16LE
 *   at 16  entries      array           array    pointer 8 · count i32 · capacity i32
 *   at 32  directories  map             map      array of elements · bits that are set for elements in use (pointer 8 ·
 *                                                count i32 · capacity i32) · first free i32 · free count i32 ·
 *                                                hash pointer 8 · hash size i32 · padding 4
 *   entry               80   offset i64 · stored size i64 · size i64 · SHA-1 20 · padding 4 · blocks array (start i64,
 *                            end i64 each) · block size u32 · method u32 · flags u8 · verified u8 · padding 6
 *   directory element   80   name string · map of its files · 8 for the hash
 *   file element        32   name string · number of the entry i32 · padding 4 · 8 for the hash
 *
 * A pointer is twice the distance from itself to what it points to, plus 1. (CUE4Parse describes it; no real file was
 * at hand.)
 */
import { formatError } from '../../../core/errors.ts';
import { ByteReader } from '../../../core/reader.ts';
import { type EntryRecord, emptyRecord, type RecordFormat, readSize, recordSize } from '../entries/entry-record.ts';
import { type DecodedIndex, maxKeptChars, NameBudget, RowList } from './index-rows.ts';

const what = 'frozen index of an Unreal PAK';
const entrySize = 80;
const directoryElementSize = 80;
const fileElementSize = 32;
const blockRowSize = 16;

/** Decodes a frozen index. Throws E_FORMAT…. */
export function decodeFrozenIndex(bytes: Uint8Array, format: RecordFormat): DecodedIndex {
  const reader = new ByteReader(bytes, what);
  const mountPoint = readString(reader, 0);
  const entries = readArray(reader, 16, entrySize);
  const list = new RowList();
  const budget = new NameBudget(maxKeptChars);
  for (const directory of readMap(reader, 32, directoryElementSize)) {
    const folder = readString(reader, directory).replace(/^\//, '');
    budget.spend(folder.length);
    for (const file of readMap(reader, directory + 16, fileElementSize)) {
      const name = readString(reader, file);
      reader.seek(file + 16);
      const number = reader.u32le();
      if (number >= entries.count) throw formatError('E_FORMAT_RANGE', what, `there is no entry ${number}`);
      list.add(folder + name, readEntry(reader, entries.start + number * entrySize, format));
    }
  }
  return { mountPoint, rows: list };
}

function readEntry(reader: ByteReader, at: number, format: RecordFormat): EntryRecord {
  const blocks = readArray(reader, at + 48, blockRowSize);
  reader.seek(at);
  const offset = readSize(reader);
  const storedSize = readSize(reader);
  const size = readSize(reader);
  reader.seek(at + 64);
  const blockSize = reader.u32le();
  const method = reader.u32le();
  const flags = reader.u8();
  return {
    ...emptyRecord,
    offset,
    storedSize,
    size,
    method,
    blockSize,
    bytes: reader.bytes,
    sha1Offset: at + 24,
    encrypted: (flags & 1) !== 0,
    deleted: (flags & 2) !== 0,
    blockCount: method === 0 ? 0 : blocks.count,
    blocksOffset: method === 0 ? -1 : blocks.start,
    headerSize: recordSize(format, method === 0 ? undefined : blocks.count),
  };
}

/** The start of an array and the number of its elements; they are in the index, all of them. */
function readArray(reader: ByteReader, at: number, elementSize: number): { start: number; count: number } {
  reader.seek(at);
  const start = at + readPointer(reader);
  const count = reader.u32le();
  if (count === 0) return { start: 0, count };
  reader.seek(start);
  return { start, count: reader.count(count, elementSize) };
}

function readPointer(reader: ByteReader): number {
  return Number(BigInt.asIntN(64, reader.u64leBig()) >> 1n);
}

/** Positions of the elements of a map that are in use. */
function* readMap(reader: ByteReader, at: number, elementSize: number): Generator<number> {
  const elements = readArray(reader, at, elementSize);
  reader.seek(at + 16);
  const bits = at + 16 + readPointer(reader);
  for (let i = 0; i < elements.count; i++) {
    reader.seek(bits + (i >>> 3));
    if ((reader.u8() >>> (i & 7)) & 1) yield elements.start + i * elementSize;
  }
}

function readString(reader: ByteReader, at: number): string {
  const { start, count } = readArray(reader, at, 2);
  reader.seek(start);
  const bytes = reader.take(Math.max(count - 1, 0) * 2);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf16le');
}
