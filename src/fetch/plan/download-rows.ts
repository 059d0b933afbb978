import { breathe } from '../../core/breathe.ts';
import { asBuffer, compareKeys } from '../../core/bytes.ts';
import { largeBytes } from '../../core/tables/large-bytes.ts';
import type { RecordTable } from '../../core/tables/record-table.ts';
import { sortRecords } from '../../core/tables/sort-records.ts';
import { type Download, downloadPriority, downloadSize } from '../../formats/manifests/download.ts';
import { hasTag, type Tag } from '../../formats/manifests/tags.ts';
import type { Amount } from '../../store/ledger/rows.ts';
import { manifestPriority, setWantedPriority, type WantedList, wantedPriority } from './wanted.ts';

/** Wanted entries and bytes of a tag. */
export interface TagAmount {
  tag: Tag;
  amount: Amount;
}

/** Entries that are sorted at once, to be gone through beside a table. */
const entriesAtOnce = 1 << 18;
/** An ekey, and the number of its entry, u32. */
const numberAt = 16;
const numberedSize = 20;

/** Entries from one on, before another: as many as are sorted at once. */
interface Part {
  first: number;
  end: number;
}

/** A manifest part by part, with turns for others between. */
async function* partsOf({ rows }: Download, signal: AbortSignal | undefined): AsyncGenerator<Part> {
  for (let first = 0; first < rows.count; first += entriesAtOnce) {
    await breathe(signal);
    yield { first, end: Math.min(first + entriesAtOnce, rows.count) };
  }
}

function mostInPart({ rows }: Download): number {
  return Math.min(rows.count, entriesAtOnce);
}

/** For the entries of one part after the other, with their numbers. */
function memoryForPart(download: Download): Buffer {
  return asBuffer(largeBytes(mostInPart(download) * numberedSize));
}

/** Called with the number of an entry and that of the row with its ekey; -1 where the table has none. */
type OnMatch = (entry: number, row: number) => void;

/**
 * Calls back for every entry, with its row in a sorted table. Entries come in any order, those of one ekey in theirs. To sort them a part at a time
 * and go through the table beside is faster than to look up each: neither leaves the caches.
 */
async function eachEntry(
  download: Download,
  table: RecordTable,
  { visit, signal }: { visit: OnMatch; signal: AbortSignal | undefined },
): Promise<void> {
  const memory = memoryForPart(download);
  for await (const part of partsOf(download, signal)) matchPart(download, part, { table, memory, visit });
}

function matchPart(
  { rows }: Download,
  part: Part,
  { table, memory, visit }: { table: RecordTable; memory: Buffer; visit: OnMatch },
): void {
  const entries = asBuffer(sortRecords(numbered(rows, part, memory), numberedSize, numberAt));
  let row = 0;
  for (let at = 0; at < entries.length; at += numberedSize) {
    let order = 1;
    for (; row < table.count; row++) {
      order = compareKeys(table.bytes, row * table.stride, entries, at);
      if (order >= 0) break;
    }
    visit(entries.readUInt32BE(at + numberAt), order === 0 ? row : -1);
  }
}

/** The ekeys of a part, each with its number. @param memory for the most of them that are sorted at once */
function numbered({ bytes, stride }: RecordTable, { first, end }: Part, memory: Buffer): Uint8Array {
  const keys = memory.subarray(0, (end - first) * numberedSize);
  for (let entry = first, at = 0; entry < end; entry++, at += numberedSize) {
    for (let i = 0; i < numberAt; i++) keys[at + i] = bytes[entry * stride + i]!;
    keys.writeUInt32BE(entry, at + numberAt);
  }
  return keys;
}

/**
 * Adds the entries of a download manifest that a list does not have, and gives priorities to those that it has.
 * @returns the entries that were not found among the rows that came in order: their priorities are to be given once the list is sorted
 */
export async function addDownload(
  list: WantedList,
  download: Download,
  signal: AbortSignal | undefined,
): Promise<number[]> {
  const { rows } = download;
  const table = list.inOrder();
  const added: number[] = [];
  const visit = (entry: number, row: number): void => {
    if (row !== -1) {
      setWantedPriority(table, row, downloadPriority(download, entry));
      return;
    }
    list.addAt(rows.bytes, entry * rows.stride, downloadSize(rows, entry));
    added.push(entry);
  };
  await eachEntry(download, table, { visit, signal });
  return added;
}

/**
 * Gives wanted rows the priorities that a download manifest has for them; manifests keep theirs.
 * @param options.entries numbers of the entries that are looked at; undefined: all
 */
export async function rankWanted(
  wanted: RecordTable,
  download: Download,
  { entries, signal }: { entries: readonly number[] | undefined; signal: AbortSignal | undefined },
): Promise<void> {
  const rank = (entry: number, row: number): void => {
    if (row === -1 || wantedPriority(wanted, row) === manifestPriority) return;
    setWantedPriority(wanted, row, downloadPriority(download, entry));
  };
  if (entries === undefined) return eachEntry(download, wanted, { visit: rank, signal });
  for (const entry of entries) {
    const ekey = download.rows.at(entry).subarray(0, numberAt);
    const row = wanted.lowerBound(ekey);
    rank(entry, row < wanted.count && wanted.compare(row, ekey) === 0 ? row : -1);
  }
}

/**
 * Wanted entries and bytes of each tag of a download manifest.
 * @param wanted rows of a WantedList, sorted by ekey; undefined: every entry is wanted
 */
export async function amountsByTag(
  wanted: RecordTable | undefined,
  download: Download,
  signal?: AbortSignal | undefined,
): Promise<TagAmount[]> {
  const amounts = download.tags.map((tag) => ({ tag, amount: { entries: 0, bytes: 0 } }));
  const sizes = new Float64Array(mostInPart(download));
  const memory = wanted === undefined ? Buffer.alloc(0) : memoryForPart(download);
  for await (const part of partsOf(download, signal)) {
    sizes.fill(notWanted);
    const take = (entry: number): void => {
      sizes[entry - part.first] = downloadSize(download.rows, entry);
    };
    if (wanted === undefined) for (let entry = part.first; entry < part.end; entry++) take(entry);
    else matchPart(download, part, { table: wanted, memory, visit: (entry, row) => row !== -1 && take(entry) });
    for (const { tag, amount } of amounts) addSizes(amount, tag, { part, sizes });
  }
  return amounts;
}

const notWanted = -1;

function addSizes(amount: Amount, { mask }: Tag, { part, sizes }: { part: Part; sizes: Float64Array }): void {
  for (let entry = part.first; entry < part.end; entry++) {
    const size = sizes[entry - part.first]!;
    if (size === notWanted || !hasTag(mask, entry)) continue;
    amount.entries += 1;
    amount.bytes += size;
  }
}
