import type { EntryPlace } from '../../builds/objects.ts';
import { asBuffer, toHex } from '../../core/bytes.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import { sortRecords } from '../../core/tables/sort-records.ts';
import type { IndexEntry } from '../../formats/indices/archive-index.ts';
import { objectPath } from '../../store/layout.ts';
import type { Amount } from '../../store/ledger/rows.ts';
import { covers, heldUntil, type Span } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';
import { HeldSpans } from '../held-spans.ts';
import type { RangeJob, RangeTarget } from '../transfer/range-job.ts';
import { wantedPriority, wantedRow } from './wanted.ts';

/** The sizes by which ranges are cut. */
export interface PlanOptions {
  /** Bytes between ranges at most that become one. */
  gapBytes: number;
  /** No single range is larger, unless one entry is. */
  maxRangeBytes: number;
  /** One range for each archive, whatever lies between: for hosts that know no ranges. */
  whole?: boolean;
  /** Every copy of an entry that several archives have, not the first alone: for archives that are to be whole. */
  everyCopy?: boolean;
}

/** The options for one range an archive. */
export const uncut: PlanOptions = { gapBytes: Number.POSITIVE_INFINITY, maxRangeBytes: Number.POSITIVE_INFINITY };

/** Ranges that a plan of few large ones is cut into, so that transfers that run side by side end at about the same time. */
const leastRanges = 32;
/** Ranges are not cut smaller than this. */
const leastRangeBytes = 16 * 1024 * 1024;
/** Entries of one range at most: each has a verifier while the range is fetched, and small ones come in hundreds of thousands. */
const mostEntries = 512;

/** The entries that are wanted, those that there are, and those that are held. Nothing here does anything: planning decides, others fetch. */
export interface PlanInput {
  /** Rows of a WantedList, sorted by ekey. */
  wanted: RecordTable;
  /** All entries of the build's archives, sorted by ekey. */
  entries: Iterable<Iterable<IndexEntry>>;
  /** Verified spans of an archive, by its number. */
  heldSpans: (archive: number) => readonly Span[];
  /**
   * For an entry that is in no archive: its size as a loose object (undefined when only the manifest knows it), whether it has its
   * final name, and the spans held. One that is verified to its end but was not named yet is missing, with no bytes to fetch.
   */
  loose: (ekey: Uint8Array) => { size: number | undefined; complete: boolean; held: readonly Span[] };
}

/** One object's range in a plan. */
export interface PlannedRange {
  /** Archive number, or undefined for a loose object. */
  archive: number | undefined;
  start: number;
  end: number;
  /** The soonest priority of its entries. */
  priority: number;
  /** The entries; made when asked for. */
  targets: () => RangeTarget[];
}

/** Everything that is missing, as ranges. */
export interface Plan {
  wanted: Amount;
  /** Entries held whole; the bytes count the held starts of others too. */
  held: Amount;
  /** Entries not held whole, and the bytes that lack. */
  missing: Amount;
  /** Bytes that the ranges ask for: what is missing, and the gaps between. */
  rangeBytes: number;
  /** In the order in which to fetch them: by priority, then by archive and offset. */
  ranges: PlannedRange[];
  /** Missing entries and bytes by priority. */
  byPriority: Map<number, Amount>;
}

/*
 * Missing entries of archives while they are planned, as bytes:
 *
 *   0   u16  archive
 *   2   u32  offset
 *   6   u32  size
 *   10  u32  bytes held from its start
 *   14  u8   priority + 128
 *   15  key  ekey
 */
const missingStride = 31;

/** Decides what to fetch: wanted entries less spans held, sorted by archive and offset, those that lie close made one range. */
export function planRanges(input: PlanInput, options: PlanOptions): Plan {
  const plan: Plan = {
    wanted: nothing(),
    held: nothing(),
    missing: nothing(),
    rangeBytes: 0,
    ranges: [],
    byPriority: new Map(),
  };
  const missing = joinMissing(input, plan, options.everyCopy === true);
  plan.ranges.push(...coalesce(missing, cuts(options, plan.missing.bytes)));
  plan.ranges.sort(
    (a, b) => a.priority - b.priority || (a.archive ?? 0x10000) - (b.archive ?? 0x10000) || a.start - b.start,
  );
  for (const range of plan.ranges) plan.rangeBytes += range.end - range.start;
  return plan;
}

function cuts({ gapBytes, maxRangeBytes, whole }: PlanOptions, missingBytes: number): PlanOptions {
  if (whole === true) return uncut;
  const share = Math.max(leastRangeBytes, Math.ceil(missingBytes / leastRanges));
  return { gapBytes, maxRangeBytes: Math.min(maxRangeBytes, share) };
}

const nothing = (): Amount => ({ entries: 0, bytes: 0 });

function addTo(amount: Amount, bytes: number): void {
  amount.entries += 1;
  amount.bytes += bytes;
}

/** Walks the wanted rows and the archives' entries side by side, both sorted by ekey. Gives back the missing rows of archives, sorted by place. */
function joinMissing(input: PlanInput, plan: Plan, everyCopy: boolean): RecordTable {
  const spans = new Map<number, readonly Span[]>();
  const spansOf = (archive: number): readonly Span[] => {
    let held = spans.get(archive);
    if (held === undefined) {
      held = input.heldSpans(archive);
      spans.set(archive, held);
    }
    return held;
  };
  const rows = new MissingRows();
  let row = 0;
  /** The row of the last entry: another copy of it may follow. */
  let found = -1;
  /** Goes to the first row that is not before a key, and compares it with that; to the end without one. */
  const advance = (ekey?: Uint8Array): number => {
    for (; row < input.wanted.count; row++) {
      const order = ekey === undefined ? -1 : input.wanted.compare(row, ekey);
      if (order >= 0) return order;
      if (row !== found) planLoose(input, plan, row);
    }
    return 1;
  };
  for (const page of input.entries) {
    for (const entry of page) {
      if (advance(entry.ekey) !== 0 || (row === found && !everyCopy)) continue;
      found = row;
      const priority = wantedPriority(input.wanted.at(row));
      const { archive, offset, size } = entry;
      addTo(plan.wanted, size);
      const held = spansOf(archive);
      if (covers(held, offset, offset + size)) {
        addTo(plan.held, size);
      } else {
        const heldBytes = heldUntil(held, offset) - offset;
        plan.held.bytes += heldBytes;
        addMissing(plan, size - heldBytes, priority);
        rows.add({ archive, offset, size, held: heldBytes, priority, ekey: entry.ekey });
      }
    }
    if (row === input.wanted.count) break;
  }
  advance();
  return rows.sorted();
}

function addMissing(plan: Plan, bytes: number, priority: number): void {
  addTo(plan.missing, bytes);
  const amount = plan.byPriority.get(priority) ?? nothing();
  addTo(amount, bytes);
  plan.byPriority.set(priority, amount);
}

function planLoose(input: PlanInput, plan: Plan, row: number): void {
  const { ekey, size: listedSize, priority } = wantedRow(input.wanted.at(row));
  const { size = listedSize, complete, held } = input.loose(ekey);
  addTo(plan.wanted, size);
  if (complete || size === 0) {
    addTo(plan.held, size);
    return;
  }
  const heldBytes = Math.min(heldUntil(held, 0), size);
  plan.held.bytes += heldBytes;
  addMissing(plan, size - heldBytes, priority);
  const target = { ekey: toHex(ekey), offset: 0, size, held: heldBytes };
  plan.ranges.push({ archive: undefined, start: heldBytes, end: size, priority, targets: () => [target] });
}

interface MissingRow {
  archive: number;
  offset: number;
  size: number;
  held: number;
  priority: number;
  ekey: Uint8Array;
}

class MissingRows {
  #bytes = Buffer.alloc(missingStride * 1024);
  #count = 0;

  add(row: MissingRow): void {
    const at = this.#count * missingStride;
    if (at + missingStride > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], this.#bytes.length * 2);
    this.#bytes.writeUInt16BE(row.archive, at);
    this.#bytes.writeUInt32BE(row.offset, at + 2);
    this.#bytes.writeUInt32BE(row.size, at + 6);
    this.#bytes.writeUInt32BE(row.held, at + 10);
    this.#bytes[at + 14] = row.priority + 128;
    this.#bytes.set(row.ekey, at + 15);
    this.#count += 1;
  }

  sorted(): RecordTable {
    const rows = this.#bytes.subarray(0, this.#count * missingStride);
    return new RecordTable(sortRecords(rows, missingStride, 6), missingStride);
  }
}

function missingRow(table: RecordTable, row: number): MissingRow {
  const bytes = table.at(row);
  const view = asBuffer(bytes);
  return {
    archive: view.readUInt16BE(0),
    offset: view.readUInt32BE(2),
    size: view.readUInt32BE(6),
    held: view.readUInt32BE(10),
    priority: view[14]! - 128,
    ekey: view.subarray(15),
  };
}

/** Makes ranges of rows that are sorted by archive and offset. Rows that overlap (a hostile index) never share a range. */
function* coalesce(rows: RecordTable, options: PlanOptions): Generator<PlannedRange> {
  let first = 0;
  let range: Omit<PlannedRange, 'targets'> | undefined;
  let reach = 0;
  for (let row = 0; row < rows.count; row++) {
    const { archive, offset, size, held, priority } = missingRow(rows, row);
    const start = offset + held;
    const end = offset + size;
    if (
      range?.archive === archive &&
      offset >= reach &&
      start - range.end <= options.gapBytes &&
      end - range.start <= options.maxRangeBytes &&
      (row - first < mostEntries || options === uncut)
    ) {
      range.end = end;
      range.priority = Math.min(range.priority, priority);
    } else {
      if (range !== undefined) yield { ...range, targets: targetsOf(rows, first, row) };
      range = { archive, start, end, priority };
      first = row;
    }
    reach = end;
  }
  if (range !== undefined) yield { ...range, targets: targetsOf(rows, first, rows.count) };
}

function targetsOf(rows: RecordTable, first: number, end: number): () => RangeTarget[] {
  return () =>
    Array.from({ length: end - first }, (_, i) => {
      const { ekey, offset, size, held } = missingRow(rows, first + i);
      return { ekey: toHex(ekey), offset, size, held };
    });
}

/** The requests that the ranges will take: one each, more for an entry larger than the largest range, none for one that is all there. */
export function requestCount(plan: Plan, maxRangeBytes: number): number {
  return plan.ranges.reduce((sum, range) => sum + Math.ceil((range.end - range.start) / maxRangeBytes), 0);
}

/** The jobs that bring some entries: those that lie close in one archive come in one range. */
export function entryJobs(store: Store, places: readonly EntryPlace[], options: PlanOptions): RangeJob[] {
  const { gapBytes, maxRangeBytes } = options.whole === true ? uncut : options;
  const held = new HeldSpans(store);
  const jobs: RangeJob[] = [];
  let last: RangeJob | undefined;
  for (const place of uniqueInOrder(places)) {
    const path = objectPath(place.object);
    const target: RangeTarget = { ekey: place.ekey, offset: place.offset, size: place.size, held: held.startOf(place) };
    const start = place.offset + target.held;
    const end = place.offset + place.size;
    const isClose = last?.path === path && place.offset >= last.end && start - last.end <= gapBytes;
    if (last !== undefined && isClose && end - last.start <= maxRangeBytes) {
      last.targets.push(target);
      last.end = end;
    } else {
      last = { path, ...store.files.partial(path), start, end, targets: [target] };
      jobs.push(last);
    }
  }
  return jobs;
}

/** Places by object and offset, each entry once. */
function uniqueInOrder(places: readonly EntryPlace[]): EntryPlace[] {
  const sorted = [...places].sort((a, b) =>
    a.object.hash < b.object.hash ? -1 : a.object.hash > b.object.hash ? 1 : a.offset - b.offset,
  );
  return sorted.filter(({ ekey }, i) => sorted[i - 1]?.ekey !== ekey);
}
