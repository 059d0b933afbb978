import { aesEcbEncrypt } from '../../../codecs/ciphers/aes.ts';
import { sha1 } from '../../../core/hash.ts';
import { orderOf } from '../../../core/sorting/merge-sort.ts';
import { ByteWriter } from '../../../core/writer.ts';
import type { PositionedSink } from '../../packing.ts';
import { type EntryRecord, writeEntryRecord } from '../entries/entry-record.ts';
import { encodeFooter } from '../footer.ts';
import { deletedLocation, writeDirectoryIndex } from '../index/directory-index.ts';
import { isEncodable, writeEncodedEntry } from '../index/encoded-entry.ts';
import { writeFString } from '../index/fstring.ts';
import type { IndexRow } from '../index/index-rows.ts';
import { encodeLegacyIndex } from '../index/legacy-index.ts';
import { pathHash, writePathHashRow } from '../index/path-hash.ts';
import type { PackPlan } from './pack-plan.ts';
import { padded } from './stored-form.ts';

const pathHashVersion = 10;

/** The rows of an index, made one at a time where there may be many. */
export type RowsToWrite = Pick<readonly IndexRow[], 'length' | 'at'> & Iterable<IndexRow>;

/** Writes the index behind the entries, and the footer. */
export async function writeIndex(out: PositionedSink, rows: RowsToWrite, plan: PackPlan): Promise<void> {
  const { mountPoint, format, label, layout, keyGuid, indexKey } = plan;
  const isLong = format.version >= pathHashVersion;
  const offset = out.position;
  const { primary, parts } = isLong
    ? pathHashIndex(rows, plan, offset)
    : { primary: indexPart(encodeLegacyIndex({ mountPoint, rows }, format), indexKey), parts: [] };
  for (const { stored } of [primary, ...parts]) await out.write(stored);
  const footer = encodeFooter(
    {
      version: format.version,
      label,
      size: layout.size,
      keyGuid,
      encryptedIndex: indexKey !== undefined,
      indexOffset: offset,
      indexSize: primary.stored.length,
      indexHash: primary.hash,
      isFrozen: false,
      hasMagic: true,
      ivs: [],
      methodNames: plan.methodNames ?? (isCompressed(rows) ? ['Zlib'] : []),
      pakchunkIndex: undefined,
      encryption: 'AES-256-ECB',
    },
    layout,
  );
  await out.write(footer);
}

function isCompressed(rows: RowsToWrite): boolean {
  for (const { record } of rows) if (record.method !== 0) return true;
  return false;
}

interface IndexPart {
  stored: Uint8Array;
  /** SHA-1 of the bytes before encryption, padding included. */
  hash: Uint8Array;
}

function indexPart(bytes: Uint8Array, key: Uint8Array | undefined): IndexPart {
  if (key === undefined) return { stored: bytes, hash: sha1(bytes) };
  const whole = padded(bytes, bytes);
  return { stored: aesEcbEncrypt(whole, key), hash: sha1(whole) };
}

/** The index of version 10 and above. The path-hash index and the directory index lie behind the primary one. */
function pathHashIndex(rows: RowsToWrite, plan: PackPlan, offset: number) {
  const { indexKey, format } = plan;
  const entries = new ByteWriter(rows.length * 32);
  const plain: EntryRecord[] = [];
  const locations = new Int32Array(rows.length);
  const placed = inPlace(rows);
  for (const row of placed) {
    const { record } = rows.at(row)!;
    const at = entries.size;
    // A record that an older PAK has in full stays so.
    const isShort = !record.deleted && record.recordOffset < 0 && isEncodable(record);
    if (isShort) writeEncodedEntry(entries, record, format);
    locations[row] = isShort ? at : record.deleted ? deletedLocation : -plain.push(record);
  }
  const parts = indexParts({ rows, placed, locations }, plan).map((bytes) => bytes && indexPart(bytes, indexKey));
  // The primary index says where the others are, which depends on its size alone.
  const primaryFor = (start: number): IndexPart =>
    indexPart(primaryIndex({ entries: entries.bytes(), plain, count: rows.length, parts, start }, plan), indexKey);
  const primary = primaryFor(offset + primaryFor(0).stored.length);
  return { primary, parts: parts.flatMap((part) => part ?? []) };
}

/** The numbers of rows in the order of their data: as the tools of others have them. */
function inPlace(rows: RowsToWrite): Uint32Array {
  const offsets: number[] = [];
  for (const { record } of rows) offsets.push(record.offset);
  return orderOf(offsets.length, (a, b) => offsets[a]! - offsets[b]!);
}

interface LocatedRows {
  rows: RowsToWrite;
  placed: Uint32Array;
  locations: Int32Array;
}

/** The path-hash index and the directory index, those that the PAK has. Names that only the former lists stand in it. */
function indexParts({ rows, placed, locations }: LocatedRows, plan: PackPlan): (Uint8Array | undefined)[] {
  const { pathHashSeed: seed, format, directories, parts } = plan;
  const { version } = format;
  const hashes = new ByteWriter(rows.length * 12 + 8).u32le(rows.length);
  for (const row of placed) {
    const { name, hash } = rows.at(row)!;
    writePathHashRow(hashes, { hash: hash ?? pathHash(name, seed, version), location: locations[row]! });
  }
  const directory = new ByteWriter(rows.length * 48);
  let listed = 0;
  for (const { isListed = true } of rows) if (isListed) listed += 1;
  if (parts !== 'hashes' || listed > 0)
    writeDirectoryIndex(directory, listedFiles(rows, locations), { version, directories });
  else directory.u32le(0);
  if (parts === 'hashes') return [hashes.raw(directory.bytes()).bytes(), undefined];
  return [parts === 'directory' ? undefined : hashes.u32le(0).bytes(), directory.bytes()];
}

function* listedFiles(rows: RowsToWrite, locations: Int32Array): Generator<{ name: string; location: number }> {
  let row = 0;
  for (const { name, isListed = true } of rows) {
    if (isListed) yield { name, location: locations[row]! };
    row += 1;
  }
}

interface PrimaryWork {
  entries: Uint8Array;
  plain: readonly EntryRecord[];
  count: number;
  /** Path-hash index and directory index. */
  parts: readonly (IndexPart | undefined)[];
  /** Offset of the first of them. */
  start: number;
}

function primaryIndex({ entries, plain, count, parts, start }: PrimaryWork, plan: PackPlan): Uint8Array {
  const writer = new ByteWriter(entries.length + 256);
  writeFString(writer, plan.mountPoint);
  writer.u32le(count).u64le(plan.pathHashSeed);
  let offset = start;
  for (const part of parts) {
    writer.u32le(part === undefined ? 0 : 1);
    if (part === undefined) continue;
    writer.u64le(offset).u64le(part.stored.length).raw(part.hash);
    offset += part.stored.length;
  }
  writer.u32le(entries.length).raw(entries).u32le(plain.length);
  for (const record of plain) writeEntryRecord(writer, record, plan.format);
  return writer.bytes();
}
