import type { Build } from '../builds/build.ts';
import type { EntryPlace } from '../builds/objects.ts';
import { toHex } from '../core/bytes.ts';
import { groupBy } from '../core/tables/group-by.ts';
import type { RecordTable } from '../core/tables/record-table.ts';
import type { Fetcher } from '../fetch/fetcher.ts';
import { HeldSpans } from '../fetch/held-spans.ts';
import { type Plan, type PlannedRange, type PlanOptions, planRanges } from '../fetch/plan/plan.ts';
import { type Selection, selectEntries } from '../fetch/plan/selection.ts';
import type { RangeJob } from '../fetch/transfer/range-job.ts';
import { objectPath } from '../store/layout.ts';
import { mergeSpans, type Span } from '../store/spans.ts';
import type { Store } from '../store/store.ts';

/** A plan, with the entries that it is for. */
export interface PlannedSync {
  plan: Plan;
  /** Rows of a WantedList, sorted by ekey. */
  wanted: RecordTable;
}

/** Decides what to fetch for a selection; does nothing. @throws as selectEntries */
export async function planSync(fetcher: Fetcher, build: Build, selection: Selection): Promise<PlannedSync> {
  return build.lookUp(async () => {
    const wanted = await selectEntries(build, selection);
    return { plan: planWanted(fetcher.store, build, wanted, planOptionsFor(fetcher, selection)), wanted };
  });
}

/** The options of a plan: where every object of the CDN is wanted, so are all copies of an entry. */
export function planOptionsFor({ settings }: Fetcher, { all }: Selection): PlanOptions {
  return { ...settings.planOptions, everyCopy: all };
}

/**
 * The plan for entries that are chosen already, by what the store holds now.
 * @param made entries that are taken for held, for something else brings them
 */
export function planWanted(
  store: Store,
  build: Build,
  wanted: RecordTable,
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
      wanted,
      entries: build.group?.pages() ?? [],
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

/** The jobs of planned ranges, each made when its turn comes. */
export function* rangeJobs(store: Store, build: Build, ranges: readonly PlannedRange[]): Generator<RangeJob> {
  const { archives } = build.cdnConfig;
  for (const { archive, start, end, targets } of ranges) {
    const list = targets();
    const hash = archive === undefined ? list[0]?.ekey : archives[archive];
    if (hash === undefined) throw new Error(`a range of no object: archive ${archive}`);
    const path = dataPath(build, hash);
    yield { path, ...store.files.partial(path), start, end, targets: list };
  }
}
