import type { Build } from '../builds/build.ts';
import type { EntryPlace } from '../builds/objects.ts';
import { breatheBetween } from '../core/breathe.ts';
import { toHex } from '../core/bytes.ts';
import { groupBy } from '../core/tables/group-by.ts';
import type { RecordTable } from '../core/tables/record-table.ts';
import type { Fetcher } from '../fetch/fetcher.ts';
import { HeldSpans } from '../fetch/held-spans.ts';
import { fetchOrder } from '../fetch/plan/fetch-order.ts';
import { type PlacedEntries, placeEntries } from '../fetch/plan/placed-entries.ts';
import { type Plan, type PlannedRange, type PlanOptions, planRanges } from '../fetch/plan/plan.ts';
import { type ChosenEntries, chooseEntries, type Selection } from '../fetch/plan/selection.ts';
import type { PackedJob } from '../fetch/transfer/range-targets.ts';
import { objectPath } from '../store/layout.ts';
import type { Amount } from '../store/ledger/rows.ts';
import { mergeSpans, type Span } from '../store/spans.ts';
import type { Store } from '../store/store.ts';

/** A plan, with the entries that it is for. */
export interface PlannedSync {
  plan: Plan;
  placed: PlacedEntries;
  /** Where it was asked for: wanted entries and bytes of each tag of the download manifest. */
  byTag: ({ tag: string; type: number } & Amount)[];
  isListed: ChosenEntries['isListed'];
}

/**
 * Decides what to fetch for a selection; does nothing.
 * @param options.tags tell the amounts of each tag, @param options.onWanted called with what is wanted: rows of a WantedList, sorted by ekey, good during the call
 * @throws as chooseEntries
 */
export async function planSync(
  fetcher: Fetcher,
  build: Build,
  selection: Selection,
  {
    tags = false,
    onWanted,
  }: { tags?: boolean | undefined; onWanted?: ((wanted: RecordTable) => void) | undefined } = {},
): Promise<PlannedSync> {
  const { signal } = fetcher.network ?? {};
  return build.lookUp(async () => {
    const { wanted, byTag, isListed } = await chosenBy(build, selection, { tags, signal });
    onWanted?.(wanted);
    // Where every object of the CDN is wanted, so are all copies of an entry.
    const steps = placeEntries(wanted, build.group, selection.all);
    const placed = await breatheBetween(steps, signal);
    return {
      plan: planPlaced(fetcher.store, build, placed, fetcher.settings.planOptions),
      placed,
      byTag,
      isListed,
    };
  });
}

/** A function of its own, and no tags with their masks, so that the download manifest is out of memory when it returns. */
async function chosenBy(
  build: Build,
  selection: Selection,
  { tags, signal }: { tags: boolean; signal: AbortSignal | undefined },
): Promise<Pick<PlannedSync, 'byTag' | 'isListed'> & Pick<ChosenEntries, 'wanted'>> {
  const { wanted, byTag, isListed } = await chooseEntries(build, selection, signal);
  const amounts = tags ? await byTag() : [];
  const plain = amounts.map(({ tag: { name, type }, amount }) => ({ tag: name, type, ...amount }));
  return { wanted, byTag: plain, isListed };
}

/**
 * The plan for entries whose places are known already, by what the store holds now.
 * @param made entries that are taken for held, for something else brings them
 */
export function planPlaced(
  store: Store,
  build: Build,
  placed: PlacedEntries,
  options: PlanOptions,
  made: readonly EntryPlace[] = [],
): Plan {
  const { archives } = build.cdnConfig;
  const spans = new HeldSpans(store);
  const madeOf = groupBy(made, ({ object }) => object.hash);
  const heldSpans = (hash: string): readonly Span[] => {
    const held = spans.of(dataPath(build, hash));
    const more = madeOf.get(hash)?.map(({ offset, size }) => ({ start: offset, end: offset + size }));
    return more === undefined ? held : mergeSpans([...held, ...more]);
  };
  return planRanges(
    {
      placed,
      heldSpans: (archive) => (archives[archive] === undefined ? [] : heldSpans(archives[archive])),
      loose: (ekey) => {
        const hash = toHex(ekey);
        const complete = madeOf.has(hash) || store.ledger.completeSize(dataPath(build, hash)) !== undefined;
        return { size: build.fileIndex?.find(ekey)?.size, complete, held: heldSpans(hash) };
      },
    },
    options,
  );
}

/** The path of a data object of a build, below a host and in the ledger. */
export function dataPath(build: Build, hash: string): string {
  return objectPath({ cdnPath: build.identity.cdnPath, kind: 'data', hash });
}

/** The jobs of planned ranges, in the order in which to fetch them, each made when its turn comes. */
export function* rangeJobs(store: Store, build: Build, ranges: readonly PlannedRange[]): Generator<PackedJob> {
  const { archives } = build.cdnConfig;
  for (const { archive, start, end, targets } of fetchOrder(ranges)) {
    const list = targets();
    const hash = archive === undefined ? list.ekey(0) : archives[archive];
    if (hash === undefined) throw new Error(`a range of no object: archive ${archive}`);
    const path = dataPath(build, hash);
    yield { path, ...store.files.partial(path), start, end, targets: list };
  }
}
