import type { EntryPlace } from '../../builds/objects.ts';
import { toHex } from '../../core/bytes.ts';
import { objectPath } from '../../store/layout.ts';
import type { Amount } from '../../store/ledger/rows.ts';
import { heldUntil, type Span } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';
import { HeldSpans } from '../held-spans.ts';
import type { RangeJob, RangeTarget } from '../transfer/range-job.ts';
import { RangeTargets } from '../transfer/range-targets.ts';
import type { PlacedEntries } from './placed-entries.ts';
import { wantedRow } from './wanted.ts';

/** The sizes by which ranges are cut. */
export interface PlanOptions {
  /** Bytes between ranges at most that become one; twice that where there are very many ranges. */
  gapBytes: number;
  /** No single range is larger, unless one entry is. */
  maxRangeBytes: number;
  /** One range for each archive, whatever lies between: for hosts that know no ranges. */
  whole?: boolean;
}

/** The options for one range an archive. */
export const uncut: PlanOptions = { gapBytes: Number.POSITIVE_INFINITY, maxRangeBytes: Number.POSITIVE_INFINITY };

/** Ranges that a plan of few large ones is cut into, so that transfers that run side by side end at about the same time. */
const leastRanges = 64;
/** Ranges are not cut smaller than this. */
const leastRangeBytes = 16 * 1024 * 1024;
/** Entries of one range at most: each is an object while the range is fetched, and small ones come in hundreds of thousands. */
const mostEntries = 2560;

/** So many ranges take longer to be answered, one behind the other, than the bytes take that lie between them: wider gaps are worth it. */
const manyRanges = 1000;

/** The entries that are wanted, where they lie, and what is held. Nothing here does anything: planning decides, others fetch. */
export interface PlanInput {
  placed: PlacedEntries;
  /** Verified spans of an archive, by its number; merged and in order. */
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
  targets: () => RangeTargets;
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
  /** By priority, then by archive and offset, loose objects last; `fetchOrder` spreads these. */
  ranges: PlannedRange[];
  /** Missing entries and bytes by priority. */
  byPriority: Map<number, Amount>;
}

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
  const missing = findMissing(input, plan);
  for (const row of input.placed.loose) planLoose(input, plan, row);
  for (const range of coalesceMissing(missing, cuts(options, plan.missing.bytes))) plan.ranges.push(range);
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

/** Entries of archives that are not held whole. */
interface MissingEntries {
  placed: PlacedEntries;
  /** For each placed row 1 where it is missing: of three million, which mostly all are, numbers would be four times as large. */
  isMissing: Uint8Array;
  /** Bytes held from the start of an entry, by its row, for the few of which there are any. */
  heldStarts: ReadonlyMap<number, number>;
}

/** Walks the placed entries and the held spans of each archive side by side, both in order. */
function findMissing({ placed, heldSpans }: PlanInput, plan: Plan): MissingEntries {
  const isMissing = new Uint8Array(placed.count);
  const heldStarts = new Map<number, number>();
  let archive: number | undefined;
  let walk = new SpanWalk([]);
  for (let row = 0; row < placed.count; row++) {
    if (archive !== placed.archive(row)) {
      archive = placed.archive(row);
      walk = new SpanWalk(heldSpans(archive));
    }
    const size = placed.size(row);
    addTo(plan.wanted, size);
    const held = walk.heldAfter(placed.offset(row));
    if (held >= size) {
      addTo(plan.held, size);
      continue;
    }
    if (held > 0) heldStarts.set(row, held);
    plan.held.bytes += held;
    addMissing(plan, size - held, placed.priority(row));
    isMissing[row] = 1;
  }
  return { placed, isMissing, heldStarts };
}

/** Goes through merged spans in order, for those who ask in the order of offsets. */
class SpanWalk {
  readonly #spans: readonly Span[];
  #at = 0;

  constructor(spans: readonly Span[]) {
    this.#spans = spans;
  }

  /** Bytes from an offset on that are held. */
  heldAfter(offset: number): number {
    while (this.#at < this.#spans.length && this.#spans[this.#at]!.end <= offset) this.#at += 1;
    const span = this.#spans[this.#at];
    return span !== undefined && span.start <= offset ? span.end - offset : 0;
  }
}

function addMissing(plan: Plan, bytes: number, priority: number): void {
  addTo(plan.missing, bytes);
  const amount = plan.byPriority.get(priority) ?? nothing();
  addTo(amount, bytes);
  plan.byPriority.set(priority, amount);
}

function planLoose(input: PlanInput, plan: Plan, row: Uint8Array): void {
  const { ekey, size: listedSize, priority } = wantedRow(row);
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
  const targets = (): RangeTargets => RangeTargets.of([target]);
  plan.ranges.push({ archive: undefined, start: heldBytes, end: size, priority, targets });
}

function coalesceMissing(missing: MissingEntries, options: PlanOptions): PlannedRange[] {
  const ranges = [...coalesce(missing, options)];
  if (ranges.length <= manyRanges) return ranges;
  return [...coalesce(missing, { ...options, gapBytes: options.gapBytes * 2 })];
}

/** Makes ranges of entries that are sorted by archive and offset. Entries that overlap (a hostile index) never share a range. */
function* coalesce(missing: MissingEntries, options: PlanOptions): Generator<PlannedRange> {
  const { placed, isMissing, heldStarts } = missing;
  let [first, count] = [0, 0];
  let range: Omit<PlannedRange, 'targets'> | undefined;
  let reach = 0;
  for (let row = 0; row < placed.count; row++) {
    if (isMissing[row] === 0) continue;
    const archive = placed.archive(row);
    const offset = placed.offset(row);
    const priority = placed.priority(row);
    const start = offset + (heldStarts.get(row) ?? 0);
    const end = offset + placed.size(row);
    if (
      range?.archive === archive &&
      offset >= reach &&
      start - range.end <= options.gapBytes &&
      end - range.start <= options.maxRangeBytes &&
      (count < mostEntries || options === uncut)
    ) {
      range.end = end;
      range.priority = Math.min(range.priority, priority);
      count += 1;
    } else {
      if (range !== undefined) yield { ...range, targets: targetsOf(missing, first, count) };
      range = { archive, start, end, priority };
      [first, count] = [row, 1];
    }
    reach = end;
  }
  if (range !== undefined) yield { ...range, targets: targetsOf(missing, first, count) };
}

/** So many missing entries, the first of which is in a row. */
function targetsOf(
  { placed, isMissing, heldStarts }: MissingEntries,
  first: number,
  count: number,
): () => RangeTargets {
  return () => {
    const targets = RangeTargets.ofLength(count);
    for (let row = first, i = 0; i < count; row++) {
      if (isMissing[row] === 0) continue;
      const held = heldStarts.size === 0 ? 0 : (heldStarts.get(row) ?? 0);
      targets.setNumbers(i, placed.offset(row), placed.size(row), held);
      targets.setKey(i, placed.keys, placed.keyOffset(row));
      i += 1;
    }
    return targets;
  };
}

/** The requests that the ranges will take: one each, more for an entry larger than the largest range, none for one that is all there. */
export function requestCount(plan: Plan, maxRangeBytes: number): number {
  return plan.ranges.reduce((sum, range) => sum + Math.ceil((range.end - range.start) / maxRangeBytes), 0);
}

/** A job whose entries are being gathered. */
type ListedJob = RangeJob & { targets: RangeTarget[] };

/** The jobs that bring some entries: those that lie close in one archive come in one range. */
export function entryJobs(store: Store, places: readonly EntryPlace[], options: PlanOptions): RangeJob[] {
  const { gapBytes, maxRangeBytes } = options.whole === true ? uncut : options;
  const held = new HeldSpans(store);
  const jobs: ListedJob[] = [];
  let last: ListedJob | undefined;
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
