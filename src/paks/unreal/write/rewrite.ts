import { concatBytes } from '../../../core/bytes.ts';
import { PakratError } from '../../../core/errors.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { cleanName } from '../../names.ts';
import {
  copyStored,
  dataOrder,
  notKept,
  type PackResult,
  type PackSink,
  PositionedSink,
  type RewriteOptions,
  type RewriteRow,
} from '../../packing.ts';
import { getRow } from '../../pak.ts';
import {
  blockRanges,
  dataSize,
  type EntryRecord,
  placementProblem,
  sha1Of,
  writeEntryRecord,
} from '../entries/entry-record.ts';
import { methodName } from '../entries/method-names.ts';
import { footerLayout } from '../footer.ts';
import type { IndexRow } from '../index/index-rows.ts';
import type { OpenedIndex, UnrealParts } from '../opened-index.ts';
import { newestWritten, type PackPlan } from './pack-plan.ts';
import { mapConcurrently, type StoredForm, storedForm } from './stored-form.ts';
import { writeEntry } from './write.ts';
import { writeIndex } from './write-index.ts';

const absoluteBlocks = { first: 3, last: 4 } as const;
const nameBasedVersion = 8;
const defaultBlockSize = 0x10000;
const concurrentFiles = 4;
const offsetSize = 8;

/** The PAK that is rewritten. */
export interface OldUnrealPak {
  parts: UnrealParts;
  index: OpenedIndex;
  /** The key of its entries. Throws E_KEY_MISSING. */
  entryKey: () => Promise<Uint8Array>;
}

/** A row with all that decides how it is written. */
interface Row {
  row: RewriteRow;
  name: string;
  record: EntryRecord | undefined;
}

/** As `Pak.rewrite`. Gaps between entries are not taken over. */
export async function rewriteUnrealPak(
  old: OldUnrealPak,
  rows: readonly RewriteRow[],
  sink: PackSink,
  options: RewriteOptions = {},
): Promise<PackResult> {
  const { parts, index } = old;
  const notes: string[] = [];
  const all = rows.map((row) => rowOf(old, row));
  const plan = await planLike(old, all, options, notes);
  const out = new PositionedSink(sink);
  const records: EntryRecord[] = [];
  const moved = new Map<number, number>();
  const order = dataOrder(rows, (row) => index.rows.recordAt(row).offset);
  const make = async (at: number) => ({ at, ...(await made(getRow(all, { index: at }), plan)) });
  for await (const { at, of, form, plan: own } of mapConcurrently(order, make, concurrentFiles)) {
    if (form !== undefined) records[at] = await writeEntry(out, form, own);
    else if (of.record !== undefined) {
      records[at] = await keep(out, { parts, record: of.record, moved }, options);
      options.onKept?.(of.record.storedSize);
    }
  }
  const indexRows = all.map(({ row, name }, at): IndexRow => {
    const known = row.old === undefined ? { isListed: index.form?.parts !== 'hashes' } : index.form?.rowAt(row.old);
    return { name, record: getRow(records, { index: at }), ...known };
  });
  await writeIndex(out, indexRows, plan.base);
  return { files: rows.length, bytes: out.position, notes };
}

function rowOf({ index, parts }: OldUnrealPak, row: RewriteRow): Row {
  if (row.old === undefined) return { row, name: row.file?.name ?? '', record: undefined };
  const record = index.rows.recordAt(row.old);
  const name = index.rows.storedNameAt(row.old);
  const problem = record.deleted || row.file !== undefined ? undefined : placementProblem(record, parts.source.size);
  if (problem !== undefined) throw notKept(cleanName(name), problem);
  return { row, name, record };
}

/** How new content is stored, by the row that it takes the place of; and the form of the whole. */
interface LikePlan {
  base: PackPlan;
  planFor(row: Row): PackPlan;
}

async function planLike(
  old: OldUnrealPak,
  rows: readonly Row[],
  { exact = false }: RewriteOptions,
  notes: string[],
): Promise<LikePlan> {
  const { parts, index } = old;
  const { footer, format } = parts;
  const layout = footerLayout(footer.label);
  if (layout === undefined || footer.version > newestWritten || !footer.hasMagic) {
    const problem = footer.hasMagic ? `version ${footer.label}` : 'a PAK with another magic';
    throw new PakratError('E_UNSUPPORTED', `Unreal PAK: ${problem} is read, but not written`, {
      hint: `Versions 1 to ${newestWritten} are written.`,
    });
  }
  if (footer.isFrozen) notes.push('the index was frozen, and is written as the plain one of its version');
  const habits = habitsOf(parts, index);
  const newRows = rows.filter(({ row }) => row.file !== undefined);
  const isEncrypted = ({ record }: Row): boolean => record?.encrypted ?? habits.encrypts;
  const key = newRows.some(isEncrypted) ? await old.entryKey() : undefined;
  const base: PackPlan = {
    label: footer.label,
    layout,
    format,
    compress: habits.compresses,
    exact,
    blockSize: habits.blockSize,
    mountPoint: index.mountPoint,
    dataKey: undefined,
    indexKey: footer.encryptedIndex ? index.key : undefined,
    keyGuid: footer.keyGuid,
    pathHashSeed: index.seed,
    zlibMethod: zlibMethod(footer.methodNames, footer.version),
    methodNames: footer.methodNames,
    directories: index.form?.directories(),
    parts: index.form?.parts,
  };
  const others = newRows.filter(
    ({ record }) => record && !['none', 'zlib'].includes(methodName(record.method, footer)),
  );
  if (others.length > 0) {
    const methods = [...new Set(others.map(({ record }) => methodName(record?.method ?? 0, footer)))].join(', ');
    notes.push(`new content of entries that were compressed with ${methods} is stored without compression`);
  }
  return {
    base,
    planFor: (row) => {
      const isZlib = row.record === undefined ? habits.compresses : methodName(row.record.method, footer) === 'zlib';
      return { ...base, compress: isZlib, dataKey: isEncrypted(row) ? key : undefined };
    },
  };
}

/** What most entries of a PAK have in common: entries that are new have it, too. */
function habitsOf({ footer }: UnrealParts, { rows }: OpenedIndex) {
  let [files, encrypted, zlib, blockSize] = [0, 0, 0, 0];
  for (let row = 0; row < rows.count; row++) {
    const record = rows.recordAt(row);
    if (record.size === 0) continue;
    files += 1;
    if (record.encrypted) encrypted += 1;
    if (methodName(record.method, footer) === 'zlib') zlib += 1;
    if (record.blockCount > 1) blockSize = Math.max(blockSize, record.blockSize);
  }
  return { encrypts: encrypted * 2 > files, compresses: zlib * 2 > files, blockSize: blockSize || defaultBlockSize };
}

/** The number of zlib in records; it is asked for only where entries have it. */
function zlibMethod(names: readonly string[], version: number): number {
  return version < nameBasedVersion ? 1 : names.findIndex((name) => name.toLowerCase() === 'zlib') + 1;
}

async function made(of: Row, like: LikePlan): Promise<{ of: Row; form: StoredForm | undefined; plan: PackPlan }> {
  const { file } = of.row;
  if (file === undefined) return { of, form: undefined, plan: like.base };
  const plan = like.planFor(of);
  return { of, plan, form: await storedForm(file, plan) };
}

interface KeptEntry {
  parts: UnrealParts;
  record: EntryRecord;
  /** New offsets of records by their old ones: rows may share their data. */
  moved: Map<number, number>;
}

/** Copies an entry with the record in front of it. Returns the record as the new index has it. */
async function keep(
  out: PositionedSink,
  { parts: { source, format }, record, moved }: KeptEntry,
  { signal }: RewriteOptions,
): Promise<EntryRecord> {
  const { offset, headerSize } = record;
  if (record.deleted) return record;
  const known = moved.get(offset);
  const kept = movedRecord(record, known ?? out.position, format.version);
  if (known !== undefined) return kept;
  moved.set(offset, out.position);
  const front = (await source.read(offset, headerSize)).slice();
  const view = new DataView(front.buffer, front.byteOffset);
  // Some tools write the offset in front, too.
  if (view.getBigUint64(0, true) === BigInt(offset)) view.setBigUint64(0, BigInt(kept.offset), true);
  if (hasAbsoluteBlocks(record, format.version)) {
    const writer = new ByteWriter(headerSize);
    writeEntryRecord(writer, kept, format);
    front.set(writer.bytes().subarray(offsetSize), offsetSize);
  }
  await out.write(front);
  await copyStored(out, source, { offset: offset + headerSize, size: dataSize(record), signal });
  return kept;
}

function hasAbsoluteBlocks({ blocksOffset }: EntryRecord, version: number): boolean {
  return version >= absoluteBlocks.first && version <= absoluteBlocks.last && blocksOffset >= 0;
}

/** A record at another offset. Below version 5 its blocks are counted from the start of the file, and move with it. */
function movedRecord(record: EntryRecord, offset: number, version: number): EntryRecord {
  if (!hasAbsoluteBlocks(record, version)) return { ...record, offset };
  const writer = new ByteWriter(record.blockCount * record.blockStride);
  for (const { start, end } of blockRanges(record, { version, hasByteMethod: false })) {
    writer.u64le(start - record.offset + offset).u64le(end - record.offset + offset);
  }
  const sha1 = sha1Of(record) ?? new Uint8Array(20);
  return {
    ...record,
    offset,
    bytes: concatBytes([sha1, writer.bytes()]),
    recordOffset: -1,
    sha1Offset: 0,
    blocksOffset: sha1.length,
  };
}
