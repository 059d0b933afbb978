/*
 * The index of version 10 and above. Little-endian.
 *
 *   mount point      string
 *   count            i32
 *   path-hash seed   u64
 *   has path hashes  u32, and when 1: offset i64 · size i64 · SHA-1 20
 *   has directory    u32, and when 1: offset i64 · size i64 · SHA-1 20
 *   encoded entries  i32 bytes, then these bytes (encoded-entry.ts)
 *   plain entries    i32, then each: record (entry-record.ts); with AES-CTR then an IV of 12 for each
 *
 * A location of 0 or more is a position in the encoded entries, -1, -2 … are plain entries, and the lowest number is a
 * name that was deleted. The parts are padded and encrypted each for itself; their SHA-1 is over the decrypted bytes,
 * padding included. (Checked on real files of versions 11 and 12; plain entries and IVs by description.)
 */
import { formatError } from '../../../core/errors.ts';
import { ByteReader } from '../../../core/reader.ts';
import type { FillingSource } from '../../../files/scratch.ts';
import type { NameDecoder } from '../../names.ts';
import { minRecordSize, readSize } from '../entries/entry-record.ts';
import { decodeDirectoryIndex, isFlatDirectory } from './directory-index.ts';
import type { EncodedFormat } from './encoded-entry.ts';
import { readFString } from './fstring.ts';
import { type DecodedIndex, type IndexRow, maxKeptChars, NameBudget, RowList } from './index-rows.ts';
import { pathHash, takePathHashRows } from './path-hash.ts';
import { DirectoryRows, directoryWhat, findDirectoryRows, scanDirectories } from './rows/directory-rows.ts';
import { findHashRows, HashRows } from './rows/hash-rows.ts';
import { findPlainRecords, LocatedRecords } from './rows/located-records.ts';
import type { IndexStretch } from './rows/shared-rows.ts';
import { type IndexWindows, readerFrom, scanBytes, windowsOf } from './rows/windows.ts';

const primaryWhat = 'Unreal PAK index';

/** A part of the index that lies elsewhere in the file. */
export interface PartRange {
  offset: number;
  size: number;
  hash: Uint8Array;
}

interface PrimaryIndex {
  mountPoint: string;
  count: number;
  seed: bigint;
  pathHashes: PartRange | undefined;
  directory: PartRange | undefined;
  records: LocatedRecords;
}

/**
 * Decodes the primary index; its encoded entries stay bytes until they are asked for.
 * @param bytes all of it, or where they lie in the source
 * @throws E_FORMAT…, and as the source does
 */
export function decodePrimaryIndex(
  bytes: Uint8Array | IndexStretch,
  source: FillingSource,
  { format, decodeName }: Omit<PartOptions, 'index'>,
): PrimaryIndex {
  const windows = windowsOf(bytes, source);
  const reader = new ByteReader(windows.read(0, scanBytes).bytes, primaryWhat);
  const mountPoint = readFString(reader, decodeName);
  const count = reader.u32le();
  const seed = reader.u64leBig();
  const pathHashes = readPartRange(reader);
  const directory = readPartRange(reader);
  const size = reader.u32le();
  const start = reader.pos;
  const end = start + size;
  if (end > windows.size) {
    throw formatError('E_FORMAT_TRUNCATED', primaryWhat, `${size} bytes asked, ${windows.size - start} left`, {
      offset: start,
    });
  }
  const rest = readerFrom(windows, end, primaryWhat);
  const plainCount = rest.count(rest.u32le(), minRecordSize(format));
  const plain = findPlainRecords(rest, plainCount, format);
  const records = new LocatedRecords({ index: bytes, start, end, ...plain }, source, format);
  return { mountPoint, count, seed, pathHashes, directory, records };
}

function readPartRange(reader: ByteReader): PartRange | undefined {
  if (reader.u32le() === 0) return undefined;
  return { offset: readSize(reader), size: readSize(reader), hash: reader.take(20) };
}

interface PartOptions {
  index: PrimaryIndex;
  format: EncodedFormat;
  decodeName: NameDecoder;
}

/**
 * Decodes the full directory index; the rows of a nested one stay bytes until they are asked for.
 * @param directory its bytes, or where they lie in the source
 * @throws E_FORMAT…, and as the source does
 */
export function decodeDirectoryPart(
  directory: Uint8Array | IndexStretch,
  source: FillingSource,
  { index, format, decodeName }: PartOptions,
): DecodedIndex {
  const { mountPoint, records } = index;
  const names = { version: format.version, decodeName };
  const windows = windowsOf(directory, source);
  const form = { parts: index.pathHashes === undefined ? 'directory' : undefined, rowAt: () => ({}) } as const;
  if (isFlatDirectory(new ByteReader(windows.read(0, 4).bytes, directoryWhat), names)) {
    return { mountPoint, rows: flatRows(windows, names, records), form: { ...form, directories: () => [] } };
  }
  const found = findDirectoryRows(windows, names, records);
  const data = { form: 'directory', index: directory, records: records.data, ...found } as const;
  const rows = new DirectoryRows(data, source, { records, format: names });
  return { mountPoint, rows, form: { ...form, directories: () => directoryNames(windows, names) } };
}

interface NameFormat {
  version: number;
  decodeName: NameDecoder;
}

function flatRows(windows: IndexWindows, names: NameFormat, records: LocatedRecords): RowList {
  const list = new RowList();
  decodeDirectoryIndex(readerFrom(windows, 0, directoryWhat), names, (name, location) =>
    list.add(name, records.at(location)),
  );
  return list;
}

/** The directories of a nested directory index, as stored. */
function directoryNames(windows: IndexWindows, names: NameFormat): string[] {
  const directories: string[] = [];
  scanDirectories(windows, names, { onDirectory: (name) => void directories.push(name), onFile() {} });
  return directories;
}

interface HashedIndex extends DecodedIndex {
  /** Number of the row with this path below the mount point, or undefined. */
  findRow: (path: string) => number | undefined;
}

/** Decodes the path-hash index; rows have a name where its directory has one, and a name made of the hash otherwise. */
export function decodePathHashPart(bytes: Uint8Array, { index, format, decodeName }: PartOptions): HashedIndex {
  const reader = new ByteReader(bytes, 'path-hash index of an Unreal PAK');
  const table = takePathHashRows(reader);
  const names = new Map<number, string>();
  const budget = new NameBudget(maxKeptChars);
  const directories: string[] = [];
  const onDirectory = (name: string): void => void directories.push(name);
  if (reader.remaining >= 4) {
    decodeDirectoryIndex(reader, { version: format.version, decodeName, onDirectory }, (name, location) => {
      budget.spend(name.length);
      names.set(location, name);
    });
  }
  const rows = new HashRows(findHashRows({ table, names }, index.records), index.records);
  const rowAt = (row: number): Pick<IndexRow, 'hash' | 'isListed'> => rows.formAt(row);
  const form = { parts: 'hashes', directories: () => directories, rowAt } as const;
  const findRow = (path: string): number | undefined => rows.find(pathHash(path, index.seed, format.version));
  return { mountPoint: index.mountPoint, rows, form, findRow };
}
