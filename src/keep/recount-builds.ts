import { isDeepStrictEqual } from 'node:util';
import type { EntryPlace } from '../builds/objects.ts';
import { isDamage, isOurTrouble, isPakratError, isUnavailable } from '../core/errors.ts';
import { plural } from '../core/quantities.ts';
import type { Plan } from '../fetch/plan/plan.ts';
import type { Selection } from '../fetch/plan/selection.ts';
import { objectPath } from '../store/layout.ts';
import { type BuildRow, isHeldWhole, keyOf } from '../store/ledger/rows.ts';
import { mergeSpans, type Span, touches } from '../store/spans.ts';
import type { Store } from '../store/store.ts';
import { planOfNothing } from '../sync/nothing-missing.ts';
import { missingPatches } from '../sync/patches/patch-objects.ts';
import { planSync } from '../sync/plan-sync.ts';
import { type SyncResult, syncBuild } from '../sync/sync-build.ts';
import type { UncheckedObject, VerifyProblem } from '../verify/verify-result.ts';
import type { BuildOpener } from './build-opener.ts';
import { countDamage, type FetchedDamage } from './damage.ts';
import { selectionOf } from './damaged-rows.ts';

/** What came out of counting builds again, beside the damage that was told. */
interface Recounted {
  /** Builds that were whole and are not any more, although nothing that was told explains it. */
  bad: VerifyProblem[];
  /** Those of them that are whole again. */
  repaired: number;
  /** Builds that were to be made whole and are not. */
  missing: UncheckedObject[];
  /** Those of the paths that no host has which a build wants as loose objects. */
  wanted: Set<string>;
}

interface Recount {
  store: Store;
  opener: BuildOpener;
  /** Make builds whole again that once were. */
  repair: boolean;
  /** The damage that was told, and that an archive could not be checked. */
  damages: readonly FetchedDamage[];
  isUnchecked: boolean;
  /** Paths of objects that were asked for, and that no host has. */
  nowhere: ReadonlySet<string>;
  /** Build configs of builds whose counts are not to be believed. */
  uncounted: ReadonlySet<string>;
}

/**
 * Counts again what is held of builds, so that nobody is told that they are complete. Where the ledger has lost more of a whole build than
 * the damage that was told, a run that was killed forgot it, or a row is damaged.
 * @throws E_ABORTED, E_STORE…
 */
export async function recountBuilds(recount: Recount, builds: readonly BuildRow[]): Promise<Recounted> {
  const found: Recounted = { bad: [], repaired: 0, missing: [], wanted: new Set() };
  for (const build of builds) {
    // Since it was listed it may have been synced, or forgotten.
    const row = rowNow(recount.store, build);
    if (row === undefined) continue;
    const own = recount.damages.filter(({ object }) => object.name.cdnPath === row.cdnPath);
    const choice = selectionOf(row);
    if (row.selection === null || choice === undefined) continue;
    const isUncounted = recount.uncounted.has(row.buildConfig);
    // What a row that was lost said of it nobody knows: of a build that was asked for, too much is better than too little.
    const toBeWhole = isUncounted || isWhole(recount.store, row);
    if (toBeWhole || own.length > 0)
      await recountBuild(
        { ...recount, damages: own },
        { ...row, selection: row.selection, choice, toBeWhole, isUncounted },
        found,
      );
  }
  return found;
}

/** A plan, with the patches that lack of a mirror, and the hashes of the archives that it numbers. */
interface HeldPlan extends Plan {
  patches: EntryPlace[];
  archives: readonly string[];
}

interface SyncedRow extends BuildRow {
  selection: string;
  /** The selection, decoded. */
  choice: Selection;
  /** It was whole once, or may have been. */
  toBeWhole: boolean;
  /** Its counts are not to be believed. */
  isUncounted: boolean;
}

async function recountBuild(recount: Recount, row: SyncedRow, found: Recounted): Promise<void> {
  const { store, repair } = recount;
  const plan = await planHeld(recount, row);
  // One that was forgotten meanwhile has lost nothing, and is not made whole.
  if (rowNow(store, row) === undefined) return;
  const problem = row.toBeWhole && !row.isUncounted ? lossOf(row, plan, recount) : undefined;
  if (problem !== undefined) found.bad.push(problem);
  if (isPlan(plan)) addWanted(found.wanted, row, { plan, nowhere: recount.nowhere });
  if (!store.writable) return;
  let after: Pick<SyncResult, 'wanted' | 'held' | 'missing'> | undefined = isPlan(plan) ? plan : undefined;
  if (row.toBeWhole && (after?.missing.entries !== 0 || (isPlan(plan) && plan.patches.length > 0))) {
    store.ledger.setSetting(wholeSetting(row), row.selection);
    const made = repair ? await makeWhole(recount, row) : undefined;
    after = made ?? after;
    const isMended = made?.missing.entries === 0 && made.failures.length === 0;
    if (isMended && problem !== undefined) found.repaired += 1;
    if (!isMended && problem === undefined && (repair || after?.missing.entries === 0))
      found.missing.push(missingOf(row, after));
  }
  const { product, buildConfig, selection, wanted } = row;
  const counts = after ?? { wanted, held: lessDamage(row, recount.damages) };
  // A sync of it that runs just now counts itself.
  const now = rowNow(store, row);
  if (after !== undefined && !repair && !isDeepStrictEqual([now?.wanted, now?.held], [wanted, row.held])) return;
  store.ledger.setProgress(product, buildConfig, { selection, wanted: counts.wanted, held: counts.held });
}

/** What the ledger says of a build now; undefined for one that it forgot since. */
export function rowNow({ ledger }: Store, { product, buildConfig }: BuildRow): BuildRow | undefined {
  return ledger.builds(product).find((row) => row.buildConfig === buildConfig);
}

/** A build that was whole once is made whole again, also by a run after the one that found out. */
function isWhole({ ledger }: Store, row: BuildRow): boolean {
  if (isHeldWhole(row)) return true;
  return row.selection !== null && ledger.setting(wholeSetting(row)) === row.selection;
}

/** The setting that has the selection of which a build was whole. */
export function wholeSetting(row: BuildRow): string {
  return `whole:${keyOf(row)}`;
}

/** The plan of what is missing now; else the error of a build that cannot be opened, undefined for other trouble. Nothing is fetched. */
async function planHeld({ opener }: Recount, row: SyncedRow): Promise<HeldPlan | { error: unknown } | undefined> {
  let isOpen = false;
  try {
    const { build, fetcher, close } = await opener.open(row, { offline: true });
    isOpen = true;
    try {
      const patches = row.choice.all ? await missingPatches(fetcher.store, build) : [];
      const nothing = planOfNothing(fetcher.store, build, row.choice);
      const { archives } = build.cdnConfig;
      return { ...(nothing ?? (await planSync(fetcher, build, row.choice)).plan), patches, archives };
    } finally {
      await close();
    }
  } catch (error) {
    if (isOurTrouble(error)) throw error;
    return isOpen ? undefined : { error };
  }
}

function isPlan(plan: HeldPlan | { error: unknown } | undefined): plan is HeldPlan {
  return plan !== undefined && 'missing' in plan;
}

/** The problem of a build that lost what nothing tells of; undefined where what was told explains it. */
function lossOf(
  row: BuildRow,
  plan: HeldPlan | { error: unknown } | undefined,
  { damages, isUnchecked }: Recount,
): VerifyProblem | undefined {
  const name = `${row.product}@${row.name}`;
  if (isPlan(plan)) {
    const lost = plan.held.entries < row.held.entries ? countUntold(plan, row, damages) : 0;
    if (lost === 0) return undefined;
    const message = `${plural(lost, 'entry that was', 'entries that were')} held and not found damaged are not any more`;
    return { name, code: 'E_INTEGRITY', message };
  }
  const error = plan?.error;
  const isLost = isPakratError(error) && (isUnavailable(error) || isDamage(error));
  if (!isLost || damages.length > 0 || isUnchecked) return undefined;
  return { name, code: 'E_INTEGRITY', message: `it was held, and cannot be opened any more: ${error.message}` };
}

/** Entries that are missing where no damage was told. */
function countUntold({ ranges, archives }: HeldPlan, { cdnPath }: BuildRow, damages: readonly FetchedDamage[]): number {
  const wrong = wrongSpans(damages);
  let count = 0;
  for (const { archive, targets } of ranges) {
    const list = targets();
    const hash = archive === undefined ? list.ekey(0) : archives[archive];
    const told = hash === undefined ? [] : (wrong.get(objectPath({ cdnPath, kind: 'data', hash })) ?? []);
    for (let i = 0; i < list.length; i++) if (!touches(told, list.offset(i), list.end(i))) count += 1;
  }
  return count;
}

/** What was told to be damaged, by the paths of objects. */
function wrongSpans(damages: readonly FetchedDamage[]): Map<string, Span[]> {
  const spans = new Map<string, Span[]>();
  for (const damage of damages) {
    const { path } = damage.object;
    const wrong = damage.kind === 'entries' ? damage.spans : [{ start: 0, end: Number.POSITIVE_INFINITY }];
    spans.set(path, mergeSpans([...(spans.get(path) ?? []), ...wrong]));
  }
  return spans;
}

/** Adds those objects that no host has and the build needs as loose ones. */
function addWanted(
  wanted: Set<string>,
  { cdnPath }: BuildRow,
  { plan, nowhere }: { plan: HeldPlan; nowhere: ReadonlySet<string> },
): void {
  if (nowhere.size === 0) return;
  for (const { targets } of plan.ranges) {
    const list = targets();
    for (let i = 0; i < list.length; i++) {
      const path = objectPath({ cdnPath, kind: 'data', hash: list.ekey(i) });
      if (nowhere.has(path)) wanted.add(path);
    }
  }
}

function missingOf({ product, name }: BuildRow, after: Pick<SyncResult, 'missing'> | undefined): UncheckedObject {
  const { entries = 0, bytes = 0 } = after?.missing ?? {};
  const what = entries > 0 ? plural(entries, 'entry is', 'entries are') : 'parts of it are';
  return { name: `${product}@${name}`, bytes, message: `${what} not held` };
}

/** Syncs a build as it was. @returns undefined when no host gives what is needed to open it */
async function makeWhole({ opener }: Recount, row: SyncedRow): Promise<SyncResult | undefined> {
  try {
    const { build, fetcher, close } = await opener.open(row, { offline: false });
    try {
      return await syncBuild(fetcher, build, row.choice);
    } finally {
      await close();
    }
  } catch (error) {
    if (isOurTrouble(error)) throw error;
    return undefined;
  }
}

/** For a build that cannot be opened, which may be because of what is damaged: too little is better than too much. */
function lessDamage({ wanted, held }: BuildRow, damages: readonly FetchedDamage[]): BuildRow['held'] {
  const bytes = damages.reduce(
    (sum, damage) => sum + (damage.kind === 'entries' ? damage.bytes : damage.object.size),
    0,
  );
  return {
    entries: Math.max(0, Math.min(held.entries, wanted.entries) - countDamage(damages)),
    bytes: Math.max(0, Math.min(held.bytes, wanted.bytes) - bytes),
  };
}
