import type { Build } from '../builds/build.ts';
import type { Cdn } from '../cdn/get-object.ts';
import { toHex } from '../core/bytes.ts';
import type { RecordTable } from '../core/record-table.ts';
import { objectPath } from '../store/layout.ts';
import type { Amount } from '../store/ledger.ts';
import type { Span } from '../store/spans.ts';
import type { Store } from '../store/store.ts';
import type { Engine } from './engine.ts';
import type { RangeJob } from './fetch-range.ts';
import { syncPatches } from './patch-objects.ts';
import { type Plan, type PlannedRange, type PlanOptions, planRanges } from './plan.ts';
import { type Selection, selectEntries } from './selection.ts';
import { completeLoose, partialFile, type SpanCommitter } from './store-objects.ts';
import { type TransferFailure, transfer } from './transfer.ts';

/** What a sync is made of. */
export interface SyncTools {
  store: Store;
  build: Build;
  cdn: () => Promise<Cdn>;
  engine: () => Promise<Engine>;
  /** Commits what the engine reports. */
  committer: SpanCommitter;
  jobs: number;
  planOptions: PlanOptions;
  onEvent?: (event: SyncEvent) => void;
}

/** What happens during a sync, for whoever shows it. */
export type SyncEvent = { type: 'planned'; plan: Plan; wanted: RecordTable } | { type: 'entry'; bytes: number };

/** What a sync did. */
export interface SyncResult {
  wanted: Amount;
  held: Amount;
  missing: Amount;
  failures: TransferFailure[];
}

/** Decides what to fetch for a selection; does nothing. */
export async function planSync(
  tools: Pick<SyncTools, 'store' | 'build' | 'planOptions'>,
  selection: Selection,
): Promise<{ plan: Plan; wanted: RecordTable }> {
  const { store, build } = tools;
  const wanted = await selectEntries(build, selection);
  const { archives } = build.cdnConfig;
  const plan = planRanges(
    {
      wanted,
      entries: build.group?.pages() ?? [],
      heldSpans: (archive) =>
        archives[archive] === undefined ? [] : store.ledger.spans(dataPath(build, archives[archive])),
      loose: (ekey) => ({ size: build.fileIndex?.find(ekey)?.size, ...looseHeld(store, build, toHex(ekey)) }),
    },
    tools.planOptions,
  );
  return { plan, wanted };
}

function looseHeld(store: Store, build: Build, ekey: string): { complete: boolean; held: readonly Span[] } {
  const path = dataPath(build, ekey);
  return { complete: store.ledger.completeSize(path) !== undefined, held: store.ledger.spans(path) };
}

function dataPath(build: Build, hash: string): string {
  return objectPath({ cdnPath: build.identity.cdnPath, kind: 'data', hash });
}

/**
 * Brings what a selection chooses into the store. Safe to end at any moment: what was verified stays, and the next run plans again.
 * @returns what is held and what no host gave right
 * @throws E_ABORTED, E_STORE…
 */
export async function syncBuild(tools: SyncTools, selection: Selection): Promise<SyncResult> {
  const { store, build, committer } = tools;
  const { product, buildConfig } = build.identity;
  // Names before data: an aborted run keeps the map.
  await build.root();
  await build.install();
  const { plan, wanted } = await planSync(tools, selection);
  const record = ({ wanted, held }: { wanted: Amount; held: Amount }): void =>
    store.ledger.setProgress(product, buildConfig, { selection: JSON.stringify(selection), wanted, held });
  record(plan);
  tools.onEvent?.({ type: 'planned', plan, wanted });

  let entries = 0;
  const onEntry = (size: number): void => {
    entries += 1;
    tools.onEvent?.({ type: 'entry', bytes: size });
  };
  committer.onCommit = (bytes) => {
    store.ledger.addHeld(product, buildConfig, { entries, bytes });
    entries = 0;
  };
  try {
    let failures = await runRanges(tools, plan.ranges, { onEntry });
    if (failures.length > 0 && (await tools.cdn()).hosts.noneKnowsRanges('data')) {
      const again = await planSync({ ...tools, planOptions: { ...tools.planOptions, whole: true } }, selection);
      failures = await runRanges(tools, again.plan.ranges, { onEntry, allowWhole: true });
    }
    if (selection.all) failures.push(...(await syncPatches(tools)));
    const after = (await planSync(tools, selection)).plan;
    record(after);
    return { wanted: after.wanted, held: after.held, missing: after.missing, failures };
  } finally {
    committer.flush();
    committer.onCommit = undefined;
  }
}

async function runRanges(
  tools: SyncTools,
  ranges: readonly PlannedRange[],
  options: { onEntry: (size: number) => void; allowWhole?: boolean },
): Promise<TransferFailure[]> {
  const { store } = tools;
  const cdn = await tools.cdn();
  const failures = await transfer(rangeJobs(tools, ranges, options.allowWhole === true), {
    ...{ hosts: cdn.hosts, engine: await tools.engine(), jobs: tools.jobs, attemptsPerHost: cdn.attemptsPerHost },
    ...{ kind: 'data' as const, signal: cdn.signal },
    onDone: (job, target) => {
      completeLoose(store, job, target);
      options.onEntry(target.size);
    },
  });
  tools.committer.flush();
  return failures;
}

/** The jobs of planned ranges, each made when its turn comes. */
function* rangeJobs(tools: SyncTools, ranges: readonly PlannedRange[], allowWhole: boolean): Generator<RangeJob> {
  const { store, build } = tools;
  for (const { archive, start, end, targets } of ranges) {
    const list = targets();
    const hash = archive === undefined ? list[0]!.ekey : build.cdnConfig.archives[archive]!;
    const path = dataPath(build, hash);
    const file = archive === undefined ? partialFile(store, hash) : store.file(path);
    yield { path, file, start, end, targets: list, allowWhole };
  }
}
