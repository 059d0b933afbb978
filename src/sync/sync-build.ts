import type { Build } from '../builds/build.ts';
import type { Cdn } from '../cdn/transport/get-object.ts';
import { toHex } from '../core/bytes.ts';
import type { RecordTable } from '../core/tables/record-table.ts';
import { waitForAll } from '../core/wait-for-all.ts';
import { type Plan, type PlannedRange, type PlanOptions, planRanges } from '../fetch/plan/plan.ts';
import { type Selection, selectEntries } from '../fetch/plan/selection.ts';
import { completeLoose, partialFile, type SpanCommitter } from '../fetch/store-objects.ts';
import type { Engine } from '../fetch/transfer/engine.ts';
import type { RangeJob } from '../fetch/transfer/fetch-range.ts';
import { type TransferFailure, transfer } from '../fetch/transfer/transfer.ts';
import { objectPath } from '../store/layout.ts';
import type { Amount } from '../store/ledger/ledger.ts';
import { mergeSpans, type Span } from '../store/spans.ts';
import type { Store } from '../store/store.ts';
import { syncPatches } from './patches/patch-objects.ts';
import type { PatchedAmount, PatchOptions, PatchPlan } from './patches/patch-plan.ts';

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
  /** Make entries out of older ones where that fetches less; absent: fetch all. */
  patches?: PatchOptions | undefined;
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
  /** What patches did, where they were asked for, and why not more. */
  patched?: PatchedAmount;
  patchReason?: string | undefined;
}

/** Decides what to fetch for a selection; does nothing. */
export async function planSync(
  tools: Pick<SyncTools, 'store' | 'build' | 'planOptions'>,
  selection: Selection,
): Promise<{ plan: Plan; wanted: RecordTable }> {
  const wanted = await selectEntries(tools.build, selection);
  return { plan: planWanted(tools, wanted), wanted };
}

/** The plan for entries that are chosen already. `made` are taken for held. */
function planWanted(
  { store, build, planOptions }: Pick<SyncTools, 'store' | 'build' | 'planOptions'>,
  wanted: RecordTable,
  made: PatchPlan['choices'] = [],
): Plan {
  const { archives } = build.cdnConfig;
  const madeSpans = new Map<string, Span[]>();
  for (const { object, offset, size } of made.map(({ place }) => place)) {
    const spans = madeSpans.get(object.hash) ?? [];
    madeSpans.set(object.hash, spans);
    spans.push({ start: offset, end: offset + size });
  }
  const heldSpans = (hash: string): readonly Span[] => {
    const held = store.ledger.spans(dataPath(build, hash));
    const more = madeSpans.get(hash);
    return more === undefined ? held : mergeSpans([...held, ...more]);
  };
  const loose = (hash: string): { complete: boolean; held: readonly Span[] } => ({
    complete: madeSpans.has(hash) || store.ledger.completeSize(dataPath(build, hash)) !== undefined,
    held: heldSpans(hash),
  });
  return planRanges(
    {
      wanted,
      entries: build.group?.pages() ?? [],
      heldSpans: (archive) => (archives[archive] === undefined ? [] : heldSpans(archives[archive])),
      loose: (ekey) => ({ size: build.fileIndex?.find(ekey)?.size, ...loose(toHex(ekey)) }),
    },
    planOptions,
  );
}

/**
 * Decides what to fetch where older entries may be patched: fetches the lists of patches, nothing else. Without `tools.patches`,
 * or when nothing is missing, it is {@link planSync}.
 * @returns a plan whose ranges leave out what patches bring
 * @throws E_ABORTED, E_STORE…
 */
export async function planPatchedSync(
  tools: SyncTools,
  selection: Selection,
): Promise<{ plan: Plan; wanted: RecordTable; patches?: PatchPlan }> {
  const { plan, wanted } = await planSync(tools, selection);
  if (tools.patches === undefined) return { plan, wanted };
  // Loaded when asked for: it brings encoders along.
  const { noPatches, planPatches } = await import('./patches/patch-plan.ts');
  const { objectKeys } = tools.store;
  const patches =
    plan.missing.entries === 0
      ? noPatches('nothing is missing')
      : objectKeys.keyOf(dataPath(tools.build, tools.build.identity.buildConfig)) !== undefined
        ? noPatches('the objects of the product are encrypted')
        : await planPatches({ ...tools, patches: tools.patches }, wanted);
  const { ranges, rangeBytes } = planWanted(besidePatches(tools, patches.choices.length), wanted, patches.choices);
  return { plan: { ...plan, ranges, rangeBytes }, wanted, patches };
}

/** Ranges beside patches bridge no gap that a patched entry can leave, or it would be fetched after all. */
function besidePatches<Tools extends Pick<SyncTools, 'planOptions' | 'patches'>>(tools: Tools, entries: number): Tools {
  const { planOptions, patches } = tools;
  if (entries === 0 || patches === undefined) return tools;
  return { ...tools, planOptions: { ...planOptions, gapBytes: Math.min(planOptions.gapBytes, patches.gapBytes) } };
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
  await waitForAll(build.root(), build.install(), build.fetchDownload());
  const { plan, wanted, patches } = await planPatchedSync(tools, selection);
  const record = ({ wanted, held }: { wanted: Amount; held: Amount }): void =>
    store.ledger.setProgress(product, buildConfig, { selection: JSON.stringify(selection), wanted, held });
  record(plan);
  const rangeBytes = plan.rangeBytes + (patches?.jobBytes ?? 0);
  tools.onEvent?.({ type: 'planned', plan: { ...plan, rangeBytes }, wanted });

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
    let { ranges } = plan;
    const outcome =
      patches && (await (await import('./patches/apply-patches.ts')).applyPatches(tools, patches, onEntry));
    // What could not be made is missing still, and fetched like the rest.
    if (outcome !== undefined) ranges = planWanted(besidePatches(tools, outcome.patched.entries), wanted).ranges;
    let failures = await runRanges(tools, ranges, { onEntry });
    if (failures.length > 0 && (await tools.cdn()).hosts.noneKnowsRanges('data')) {
      const again = planWanted({ ...tools, planOptions: { ...tools.planOptions, whole: true } }, wanted);
      failures = await runRanges(tools, again.ranges, { onEntry, allowWhole: true });
    }
    if (selection.all) failures.push(...(await syncPatches(tools)));
    const after = planWanted(tools, wanted);
    record(after);
    return {
      ...{ wanted: after.wanted, held: after.held, missing: after.missing, failures },
      ...(outcome && { patched: outcome.patched, patchReason: outcome.reason }),
    };
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
