import { alignToBlock } from '../../../codecs/ciphers/aes.ts';
import { concatBytes } from '../../../core/bytes.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { foldName } from '../../names.ts';
import { type PackFile, type PackResult, type PackSink, PositionedSink } from '../../packing.ts';
import { sortForPacking } from '../../sorted-files.ts';
import {
  blockRecordSize,
  type EntryRecord,
  emptyRecord,
  recordSize,
  writeEntryRecord,
} from '../entries/entry-record.ts';

import { SortedDirectories } from './directories.ts';
import { type PackPlan, planPack, type UnrealPackOptions } from './pack-plan.ts';
import { mapConcurrently, type StoredForm, storedForm } from './stored-form.ts';
import { IndexWriter } from './write-index.ts';

const relativeBlocksVersion = 5;
const concurrentFiles = 4;
const ticksTo1970 = 621355968000000000n;

/** How a PAK is made that may be large. */
export interface UnrealPackWork {
  /** A folder for what memory should not hold of an index; without it all is held in memory. */
  temporary?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Writes an Unreal PAK: entries in the order of their names, index, footer. The same files and options always give the
 * same bytes, with the same version of Node; no large file is held in memory.
 * @throws E_USAGE for options that do not go together and for names that a PAK cannot have, E_INTEGRITY when a file
 *   changes meanwhile, E_ABORTED
 */
export async function writeUnrealPak(
  files: Iterable<PackFile>,
  sink: PackSink,
  options: UnrealPackOptions & UnrealPackWork = {},
): Promise<PackResult> {
  const plan = planPack(options);
  const { temporary, signal } = options;
  const sorted = await sortForPacking(files, foldName, signal);
  const out = new PositionedSink(sink);
  const index = new IndexWriter(plan, { count: sorted.count, temporary });
  const directories = new SortedDirectories(temporary);
  try {
    const forms = mapConcurrently(sorted, (file) => storedForm(file, plan), concurrentFiles);
    for await (const form of forms) {
      const { name } = form.file;
      const location = index.add({ name, record: await writeEntry(out, form, plan) });
      if (location !== undefined) directories.add({ name, location });
    }
    await index.write(out, directories, signal);
  } finally {
    index.close();
    directories.close();
  }
  return { files: sorted.count, bytes: out.position, notes: [] };
}

/** Writes an entry with the record in front of it. Returns the record as the index has it. */
export async function writeEntry(out: PositionedSink, form: StoredForm, plan: PackPlan): Promise<EntryRecord> {
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
    method: isCompressed ? plan.zlibMethod : 0,
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
