import type { Build } from '../builds/build.ts';
import { ownObjects } from '../builds/own-objects.ts';
import { addAll } from '../core/tables/add-all.ts';
import { RecordTable } from '../core/tables/record-table.ts';
import type { Fetcher } from '../fetch/fetcher.ts';
import { forgetLost } from '../fetch/lost-files.ts';
import type { Plan, PlanOptions } from '../fetch/plan/plan.ts';
import type { Selection } from '../fetch/plan/selection.ts';
import { wantedStride } from '../fetch/plan/wanted.ts';
import { hasObject } from '../fetch/small-objects.ts';
import type { PackedJob } from '../fetch/transfer/range-targets.ts';
import type { TransferFailure } from '../fetch/transfer/transfer.ts';
import type { Amount } from '../store/ledger/rows.ts';
import { keepPlanned, loosePaths, planOfNothing } from './nothing-missing.ts';
import type { PatchedAmount, PatchOptions, PatchPlan } from './patches/patch-plan.ts';
import { dataPath, type PlannedSync, planPlaced, planSync, rangeJobs } from './plan-sync.ts';

/** The way in which a sync is done, and who hears of it. */
export interface SyncOptions {
  /** Make entries out of older ones where that fetches less; absent: fetch all. */
  patches?: PatchOptions | undefined;
  /** Called with the plan before any data is fetched. */
  onPlan?: ((plan: Plan) => void) | undefined;
  /** Called with the paths of objects whose files were deleted, or cut: what they lack is fetched again. */
  onLost?: ((paths: readonly string[]) => void) | undefined;
  /** Called with the encoded size of each entry that is held now. */
  onEntry?: ((bytes: number) => void) | undefined;
}

/** The amounts after a sync, and what no host gave right. */
export interface SyncResult {
  wanted: Amount;
  held: Amount;
  missing: Amount;
  failures: TransferFailure[];
  /** The work of patches, where they were asked for, and why it is not more. */
  patched?: PatchedAmount;
  patchReason?: string | undefined;
}

/**
 * Decides what to fetch where older entries may be patched: fetches the lists of patches, nothing else. Without `patches`,
 * or when nothing is missing, it is {@link planSync}.
 * @returns a plan whose ranges leave out what patches bring
 * @throws E_ABORTED, E_STORE…
 */
export async function planPatchedSync(
  fetcher: Fetcher,
  build: Build,
  selection: Selection,
  { patchOptions, tags }: { patchOptions: PatchOptions | undefined; tags?: boolean },
): Promise<PlannedSync & { patches?: PatchPlan }> {
  if (patchOptions === undefined) return planSync(fetcher, build, selection, { tags });
  let wanted = new RecordTable(new Uint8Array(), wantedStride);
  // A copy: its memory is used for the places.
  const onWanted = ({ bytes, stride }: RecordTable): void => {
    wanted = new RecordTable(bytes.slice(), stride);
  };
  const planned = await planSync(fetcher, build, selection, { tags, onWanted });
  const { plan, placed } = planned;
  // Loaded when asked for: it brings encoders along.
  const { noPatches, planPatches } = await import('./patches/patch-plan.ts');
  const isEncrypted = fetcher.store.objectKeys.keyOf(dataPath(build, build.identity.buildConfig)) !== undefined;
  const patches =
    plan.missing.entries === 0
      ? noPatches('nothing is missing')
      : isEncrypted
        ? noPatches('the objects of the product are encrypted')
        : await build.lookUp(() => planPatches(fetcher, build, wanted, patchOptions));
  const made = patches.choices.map(({ place }) => place);
  const options = besidePatches(fetcher.settings.planOptions, made.length > 0 ? patchOptions : undefined);
  const { ranges, rangeBytes } = planPlaced(fetcher.store, build, placed, options, made);
  return { ...planned, plan: { ...plan, ranges, rangeBytes }, patches };
}

/**
 * Brings the small objects of a build that the store does not have: the archive group may be there without the indices that it was made of.
 * @returns those that no host gave
 */
async function bringOwnObjects(fetcher: Fetcher, { identity, cdnConfig }: Build): Promise<TransferFailure[]> {
  return fetcher.bringObjects(ownObjects(identity, cdnConfig).filter((name) => !hasObject(fetcher.store, name)));
}

/**
 * As {@link planPatchedSync}, once the file of each archive and each wanted object was looked at: what was deleted or cut is missing.
 * @throws as planPatchedSync
 */
async function planPresent(
  fetcher: Fetcher,
  build: Build,
  selection: Selection,
  { patches: patchOptions, onLost }: SyncOptions,
): ReturnType<typeof planPatchedSync> {
  const forget = (paths: string[]): number => {
    const lost = forgetLost(fetcher.store, paths);
    if (lost.length > 0) onLost?.(lost);
    return lost.length;
  };
  forget(build.cdnConfig.archives.map((hash) => dataPath(build, hash)));
  const planned = await planPatchedSync(fetcher, build, selection, { patchOptions });
  // Only now it is known which objects of their own are wanted.
  const lost = forget(loosePaths(build, planned.placed));
  return lost === 0 ? planned : planPatchedSync(fetcher, build, selection, { patchOptions });
}

/** Mirrors the patches of a build. @returns those that no host gave */
async function bringPatches(fetcher: Fetcher, build: Build): Promise<TransferFailure[]> {
  const { syncPatches } = await import('./patches/patch-objects.ts');
  return syncPatches(fetcher, build);
}

/** What a build lists in pages of its encoding file that are damaged cannot be found, even where it is held. */
async function unlistedContents(
  { encoding, config }: Build,
  signal: AbortSignal | undefined,
): Promise<TransferFailure[]> {
  const pages = await encoding.damagedPages(signal);
  return pages.map(({ code, message }, i) => {
    const what = `encoding file ${config.encoding.ckey}: ${message}; what this page lists cannot be found`;
    return { path: `${config.encoding.ckey} ${i}`, code, message: what };
  });
}

/** Ranges beside patches bridge no gap that a patched entry can leave, or it would be fetched after all. */
function besidePatches(planOptions: PlanOptions, patches: PatchOptions | undefined): PlanOptions {
  if (patches === undefined) return planOptions;
  return { ...planOptions, gapBytes: Math.min(planOptions.gapBytes, patches.gapBytes) };
}

/**
 * Brings what a selection chooses into the store. Safe to end at any moment: what was verified stays, and the next run plans again.
 * @returns what is held and what no host gave right
 * @throws E_ABORTED, E_STORE…
 */
export async function syncBuild(
  fetcher: Fetcher,
  build: Build,
  selection: Selection,
  options: SyncOptions = {},
): Promise<SyncResult> {
  const { store } = fetcher;
  const { planOptions } = fetcher.settings;
  const lost = await bringOwnObjects(fetcher, build);
  // Names before data: an aborted run keeps the map.
  await build.fetchLists();
  const progress = new BuildProgress(fetcher, build, selection);
  const nothing = options.patches === undefined ? planOfNothing(store, build, selection) : undefined;
  if (nothing !== undefined) {
    progress.record(nothing);
    options.onPlan?.(nothing);
    const failures = selection.all ? await bringPatches(fetcher, build) : [];
    const { wanted, held, missing } = nothing;
    return { wanted, held, missing, failures: [...lost, ...failures] };
  }
  const planned = await planPresent(fetcher, build, selection, options);
  const { plan, placed, patches } = planned;
  progress.record(plan);
  options.onPlan?.({ ...plan, rangeBytes: plan.rangeBytes + (patches?.jobBytes ?? 0) });
  const onEntry = (size: number): void => options.onEntry?.(size);
  const { onHeld } = progress;
  const fetch = {
    kind: 'data' as const,
    onHeld,
    onEntry: ({ targets }: PackedJob, i: number) => onEntry(targets.size(i)),
  };
  try {
    let { ranges } = plan;
    let patched: Pick<SyncResult, 'patched' | 'patchReason'> = {};
    if (patches !== undefined) {
      const { applyPatches } = await import('./patches/apply-patches.ts');
      patched = await applyPatches(fetcher, build, patches, { onEntry, onHeld });
      // Entries that could not be made are missing still, and fetched like the rest.
      const beside = besidePatches(planOptions, patched.patched?.entries ? options.patches : undefined);
      ({ ranges } = planPlaced(store, build, placed, beside));
    }
    const failures = await fetcher.fetchPlanned(fetch, (whole) => {
      const left = whole ? planPlaced(store, build, placed, { ...planOptions, whole }).ranges : ranges;
      return rangeJobs(store, build, left);
    });
    if (selection.all) addAll(failures, await bringPatches(fetcher, build));
    addAll(failures, await build.lookUp(() => unlistedContents(build, fetcher.network?.signal)));
    const after = planPlaced(store, build, placed, planOptions);
    progress.record(after);
    const { wanted, held, missing } = after;
    const isDone = missing.entries === 0 && lost.length + failures.length === 0;
    if (isDone) await keepPlanned(store, build, selection, { ...planned, plan: after });
    return { wanted, held, missing, failures: [...lost, ...failures], ...patched };
  } finally {
    fetcher.flush();
  }
}

class BuildProgress {
  readonly #fetcher: Fetcher;
  readonly #build: Build;
  readonly #selection: string;

  constructor(fetcher: Fetcher, build: Build, selection: Selection) {
    this.#fetcher = fetcher;
    this.#build = build;
    this.#selection = JSON.stringify(selection);
  }

  record({ wanted, held }: { wanted: Amount; held: Amount }): void {
    const { product, buildConfig } = this.#build.identity;
    this.#fetcher.store.ledger.setProgress(product, buildConfig, { selection: this.#selection, wanted, held });
  }

  /** Adds what a commit brings. */
  readonly onHeld = (more: Amount): void => {
    const { product, buildConfig } = this.#build.identity;
    this.#fetcher.store.ledger.addHeld(product, buildConfig, more);
  };
}
