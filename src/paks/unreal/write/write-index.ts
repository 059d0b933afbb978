import { aesEcbEncrypt } from '../../../codecs/ciphers/aes.ts';
import { sha1 } from '../../../core/hash.ts';
import { ByteWriter } from '../../../core/writer.ts';
import type { PositionedSink } from '../../packing.ts';
import { type EntryRecord, writeEntryRecord } from '../entries/entry-record.ts';
import { encodeFooter } from '../footer.ts';
import { deletedLocation, writeDirectoryIndex } from '../index/directory-index.ts';
import { isEncodable, writeEncodedEntry } from '../index/encoded-entry.ts';
import { writeFString } from '../index/fstring.ts';
import type { IndexRow } from '../index/index-rows.ts';
import { encodeLegacyIndex } from '../index/legacy-index.ts';
import { writePathHashIndex } from '../index/path-hash.ts';
import type { PackPlan } from './pack-plan.ts';
import { padded } from './stored-form.ts';

const pathHashVersion = 10;

/** Writes the index behind the entries, and the footer. */
export async function writeIndex(out: PositionedSink, rows: readonly IndexRow[], plan: PackPlan): Promise<void> {
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
      methodNames: plan.methodNames ?? (rows.some(({ record }) => record.method !== 0) ? ['Zlib'] : []),
      pakchunkIndex: undefined,
      encryption: 'AES-256-ECB',
    },
    layout,
  );
  await out.write(footer);
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
function pathHashIndex(rows: readonly IndexRow[], plan: PackPlan, offset: number) {
  const { indexKey, format } = plan;
  const entries = new ByteWriter(rows.length * 32);
  const plain: EntryRecord[] = [];
  // In the order of their data: as the tools of others have them.
  const placed = [...rows.entries()].sort(([, a], [, b]) => a.record.offset - b.record.offset);
  const files = placed.map(([row, { name, record, hash, isListed = true }]) => {
    const at = entries.size;
    // A record that an older PAK has in full stays so.
    const isShort = !record.deleted && record.recordOffset < 0 && isEncodable(record);
    if (isShort) writeEncodedEntry(entries, record, format);
    const location = isShort ? at : record.deleted ? deletedLocation : -plain.push(record);
    return { row, name, hash, isListed, location };
  });
  const parts = indexParts(files, plan).map((bytes) => bytes && indexPart(bytes, indexKey));
  // The primary index says where the others are, which depends on its size alone.
  const primaryFor = (start: number): IndexPart =>
    indexPart(primaryIndex({ entries: entries.bytes(), plain, count: rows.length, parts, start }, plan), indexKey);
  const primary = primaryFor(offset + primaryFor(0).stored.length);
  return { primary, parts: parts.flatMap((part) => part ?? []) };
}

interface LocatedFile {
  row: number;
  name: string;
  hash: bigint | undefined;
  isListed: boolean;
  location: number;
}

/** The path-hash index and the directory index, those that the PAK has. Names that only the former lists stand in it. */
function indexParts(files: readonly LocatedFile[], plan: PackPlan): (Uint8Array | undefined)[] {
  const { pathHashSeed: seed, format, directories, parts } = plan;
  const { version } = format;
  const hashes = new ByteWriter(files.length * 12 + 8);
  writePathHashIndex(hashes, files, { seed, version });
  const directory = new ByteWriter(files.length * 48);
  const listed = files.filter(({ isListed }) => isListed).sort((a, b) => a.row - b.row);
  if (parts !== 'hashes' || listed.length > 0) writeDirectoryIndex(directory, listed, { version, directories });
  else directory.u32le(0);
  if (parts === 'hashes') return [hashes.raw(directory.bytes()).bytes(), undefined];
  return [parts === 'directory' ? undefined : hashes.u32le(0).bytes(), directory.bytes()];
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
