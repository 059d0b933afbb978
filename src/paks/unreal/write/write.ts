import { aesEcbEncrypt, alignToBlock } from '../../../codecs/ciphers/aes.ts';
import { concatBytes } from '../../../core/bytes.ts';
import { sha1 } from '../../../core/hash.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { foldName } from '../../names.ts';
import { type PackFile, type PackResult, type PackSink, PositionedSink, sortForPacking } from '../../packing.ts';
import {
  blockRecordSize,
  type EntryRecord,
  emptyRecord,
  recordSize,
  writeEntryRecord,
} from '../entries/entry-record.ts';
import { encodeFooter } from '../footer.ts';
import { writeDirectoryIndex } from '../index/directory-index.ts';
import { isEncodable, writeEncodedEntry } from '../index/encoded-entry.ts';
import { writeFString } from '../index/fstring.ts';
import type { IndexRow } from '../index/index-rows.ts';
import { encodeLegacyIndex } from '../index/legacy-index.ts';
import { writePathHashIndex } from '../index/path-hash.ts';
import { type PackPlan, planPack, type UnrealPackOptions } from './pack-plan.ts';
import { mapConcurrently, padded, type StoredForm, storedForm } from './stored-form.ts';

const pathHashVersion = 10;
const relativeBlocksVersion = 5;
const concurrentFiles = 4;
const ticksTo1970 = 621355968000000000n;

/**
 * Writes an Unreal PAK: entries in the order of their names, index, footer. The same files and options always give the
 * same bytes, with the same version of Node; no large file is held in memory.
 * @throws E_USAGE for options that do not go together and for names that a PAK cannot have, E_INTEGRITY when a file
 *   changes meanwhile
 */
export async function writeUnrealPak(
  files: Iterable<PackFile>,
  sink: PackSink,
  options: UnrealPackOptions = {},
): Promise<PackResult> {
  const plan = planPack(options);
  const sorted = sortForPacking(files, foldName);
  const out = new PositionedSink(sink);
  const rows: IndexRow[] = [];
  const forms = mapConcurrently(sorted, (file) => storedForm(file, plan), concurrentFiles);
  for await (const form of forms) {
    rows.push({ name: form.file.name, record: await writeEntry(out, form, plan) });
  }
  await writeIndex(out, rows, plan);
  return { files: rows.length, bytes: out.position, notes: [] };
}

async function writeEntry(out: PositionedSink, form: StoredForm, plan: PackPlan): Promise<EntryRecord> {
  const record = recordOf(out.position, form, plan);
  const header = new ByteWriter(record.headerSize);
  writeEntryRecord(header, { ...record, offset: 0 }, plan.format);
  await out.write(header.bytes());
  for await (const chunk of form.chunks()) await out.write(chunk);
  return record;
}

function recordOf(offset: number, form: StoredForm, plan: PackPlan): EntryRecord {
  const { file, isCompressed, storedSize, blockSizes } = form;
  const { version } = plan.format;
  const headerSize = recordSize(plan.format, isCompressed ? blockSizes.length : undefined);
  const start = headerSize + (version < relativeBlocksVersion ? offset : 0);
  const isSingle = version >= relativeBlocksVersion && blockSizes.length === 1;
  return {
    ...emptyRecord,
    offset,
    storedSize,
    size: file.size,
    headerSize,
    blockCount: blockSizes.length,
    method: isCompressed ? 1 : 0,
    time: version === 1 ? ticksOf(file.mtime) : undefined,
    encrypted: plan.dataKey !== undefined,
    blockSize: isCompressed ? (isSingle ? file.size : plan.blockSize) : 0,
    bytes: concatBytes([form.sha1, blockRows(blockSizes, start, plan.dataKey !== undefined)]),
    sha1Offset: 0,
    blocksOffset: isCompressed ? form.sha1.length : -1,
  };
}

function ticksOf(time: Date | undefined): bigint {
  return time === undefined ? 0n : ticksTo1970 + BigInt(time.getTime()) * 10000n;
}

function blockRows(sizes: readonly number[], start: number, isPadded: boolean): Uint8Array {
  const writer = new ByteWriter(sizes.length * blockRecordSize);
  let at = start;
  for (const size of sizes) {
    writer.u64le(at).u64le(at + size);
    at += isPadded ? alignToBlock(size) : size;
  }
  return writer.bytes();
}

async function writeIndex(out: PositionedSink, rows: IndexRow[], plan: PackPlan): Promise<void> {
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
      methodNames: rows.some(({ record }) => record.method !== 0) ? ['Zlib'] : [],
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
  const { indexKey, pathHashSeed, format } = plan;
  const entries = new ByteWriter(rows.length * 32);
  const plain: EntryRecord[] = [];
  const files = rows.map(({ name, record }) => {
    if (!isEncodable(record)) return { name, location: -plain.push(record) };
    const location = entries.size;
    writeEncodedEntry(entries, record, format);
    return { name, location };
  });
  const hashes = new ByteWriter(rows.length * 12 + 8);
  writePathHashIndex(hashes, files, { seed: pathHashSeed, version: format.version });
  const directory = new ByteWriter(rows.length * 48);
  writeDirectoryIndex(directory, files);
  const parts = [indexPart(hashes.bytes(), indexKey), indexPart(directory.bytes(), indexKey)];
  // The primary index says where the others are, which depends on its size alone.
  const primaryFor = (start: number): IndexPart =>
    indexPart(primaryIndex({ entries: entries.bytes(), plain, count: rows.length, parts, start }, plan), indexKey);
  return { primary: primaryFor(offset + primaryFor(0).stored.length), parts };
}

interface PrimaryWork {
  entries: Uint8Array;
  plain: readonly EntryRecord[];
  count: number;
  /** Path-hash index and directory index. */
  parts: readonly IndexPart[];
  /** Offset of the first of them. */
  start: number;
}

function primaryIndex({ entries, plain, count, parts, start }: PrimaryWork, plan: PackPlan): Uint8Array {
  const writer = new ByteWriter(entries.length + 256);
  writeFString(writer, plan.mountPoint);
  writer.u32le(count).u64le(plan.pathHashSeed);
  let offset = start;
  for (const { stored, hash } of parts) {
    writer.u32le(1).u64le(offset).u64le(stored.length).raw(hash);
    offset += stored.length;
  }
  writer.u32le(entries.length).raw(entries).u32le(plain.length);
  for (const record of plain) writeEntryRecord(writer, record, plan.format);
  return writer.bytes();
}
