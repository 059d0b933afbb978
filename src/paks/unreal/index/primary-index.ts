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
import type { NameDecoder } from '../../names.ts';
import { type EntryRecord, emptyRecord, minRecordSize, readEntryRecord, readSize } from '../entries/entry-record.ts';
import { decodeDirectoryIndex, deletedLocation } from './directory-index.ts';
import { decodeEncodedEntry, type EncodedFormat } from './encoded-entry.ts';
import { readFString } from './fstring.ts';
import { type DecodedIndex, type IndexRow, NameBudget, RowList } from './index-rows.ts';
import { type PathHashRows, pathHash, readPathHashRows } from './path-hash.ts';

const ivSize = 12;

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
  encoded: Uint8Array;
  plain: EntryRecord[];
}

/** Decodes the primary index. Throws E_FORMAT…. */
export function decodePrimaryIndex(bytes: Uint8Array, format: EncodedFormat, decodeName: NameDecoder): PrimaryIndex {
  const reader = new ByteReader(bytes, 'Unreal PAK index');
  const mountPoint = readFString(reader, decodeName);
  const count = reader.u32le();
  const seed = reader.u64leBig();
  const pathHashes = readPartRange(reader);
  const directory = readPartRange(reader);
  const encoded = reader.take(reader.u32le());
  const plainCount = reader.count(reader.u32le(), minRecordSize(format));
  const plain = Array.from({ length: plainCount }, () => readEntryRecord(reader, format));
  if (format.hasIvs) for (const record of plain) readIv(reader, record);
  return { mountPoint, count, seed, pathHashes, directory, encoded, plain };
}

/** The IV of a plain entry does not stand in its record, but lies in the same bytes. */
function readIv(reader: ByteReader, record: EntryRecord): void {
  record.ivOffset = reader.pos;
  reader.skip(ivSize);
}

function readPartRange(reader: ByteReader): PartRange | undefined {
  if (reader.u32le() === 0) return undefined;
  return { offset: readSize(reader), size: readSize(reader), hash: reader.take(20) };
}

function recordAt(location: number, index: PrimaryIndex, format: EncodedFormat): EntryRecord {
  if (location === deletedLocation) return { ...emptyRecord, deleted: true };
  if (location >= 0) return decodeEncodedEntry(index.encoded, location, format);
  const record = index.plain[-location - 1];
  if (record !== undefined) return record;
  throw formatError('E_FORMAT_RANGE', 'Unreal PAK index', `there is no plain entry ${-location - 1}`);
}

interface PartOptions {
  index: PrimaryIndex;
  format: EncodedFormat;
  decodeName: NameDecoder;
}

/** Decodes the full directory index. Throws E_FORMAT…. */
export function decodeDirectoryPart(bytes: Uint8Array, { index, format, decodeName }: PartOptions): DecodedIndex {
  const list = new RowList();
  const reader = new ByteReader(bytes, 'directory index of an Unreal PAK');
  const directories: string[] = [];
  const onDirectory = (name: string): void => void directories.push(name);
  decodeDirectoryIndex(reader, { version: format.version, decodeName, onDirectory }, (name, location) =>
    list.add(name, recordAt(location, index, format)),
  );
  const parts = index.pathHashes === undefined ? 'directory' : undefined;
  return { mountPoint: index.mountPoint, rows: list, form: { parts, directories, rowAt: () => ({}) } };
}

interface HashedIndex extends DecodedIndex {
  /** Number of the row with this path below the mount point, or undefined. */
  findRow: (path: string) => number | undefined;
}

/** Name of a row whose path is not known. */
function hashName(hash: bigint): string {
  return `hash-${hash.toString(16).padStart(16, '0')}`;
}

/** Decodes the path-hash index; rows have a name where its directory has one, and a name made of the hash otherwise. */
export function decodePathHashPart(bytes: Uint8Array, { index, format, decodeName }: PartOptions): HashedIndex {
  const reader = new ByteReader(bytes, 'path-hash index of an Unreal PAK');
  const table = readPathHashRows(reader);
  const names = new Map<number, string>();
  const budget = new NameBudget();
  const directories: string[] = [];
  const onDirectory = (name: string): void => void directories.push(name);
  if (reader.remaining >= 4) {
    decodeDirectoryIndex(reader, { version: format.version, decodeName, onDirectory }, (name, location) => {
      budget.spend(name.length);
      names.set(location, name);
    });
  }
  const list = new RowList();
  for (const [hash, location] of table) {
    list.add(names.get(location) ?? hashName(hash), recordAt(location, index, format));
  }
  let rows: [hash: bigint, location: number][] | undefined;
  const rowAt = (row: number): Pick<IndexRow, 'hash' | 'isListed'> => {
    rows ??= [...table];
    const [hash, location = deletedLocation] = rows[row] ?? [];
    return { hash, isListed: names.has(location) };
  };
  const form = { parts: 'hashes', directories, rowAt } as const;
  return { mountPoint: index.mountPoint, rows: list, form, findRow: rowFinder(table, index.seed, format) };
}

function rowFinder(
  table: PathHashRows,
  seed: bigint,
  { version }: EncodedFormat,
): (path: string) => number | undefined {
  let rows: Map<bigint, number> | undefined;
  return (path) => {
    rows ??= new Map([...table].map(([found], row) => [found, row]));
    return rows.get(pathHash(path, seed, version));
  };
}
