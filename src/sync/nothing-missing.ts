import type { Build } from '../builds/build.ts';
import { toHex } from '../core/bytes.ts';
import { HeldSpans } from '../fetch/held-spans.ts';
import { hasLost } from '../fetch/lost-files.ts';
import type { PlacedEntries } from '../fetch/plan/placed-entries.ts';
import type { Plan } from '../fetch/plan/plan.ts';
import type { Selection } from '../fetch/plan/selection.ts';
import { coversAll } from '../store/spans.ts';
import type { Store } from '../store/store.ts';
import { keepWants, readWants, type WantedOf, wantsOf } from './kept-wants.ts';
import { dataPath, type PlannedSync } from './plan-sync.ts';

/**
 * The plan of a selection of which nothing is missing, found without looking at its entries: by the spans that an earlier sync kept. Each held
 * file is looked at as well.
 * @returns undefined where something is missing, or nothing is kept: then it must be planned
 * @throws E_STORE…
 */
export function planOfNothing(store: Store, build: Build, selection: Selection): Plan | undefined {
  const wants = readWants(store, wantedOf(build, selection));
  if (wants === undefined) return undefined;
  const archives = build.cdnConfig.archives.map((hash) => dataPath(build, hash));
  const { wanted, named } = wants;
  const loose = Array.from(named.loose, (ekey) => dataPath(build, toHex(ekey)));
  const held = new HeldSpans(store);
  for (const [archive, path] of archives.entries()) {
    const spans = named.spansOf(archive);
    if (spans.length > 0 && !coversAll(held.of(path), spans)) return undefined;
  }
  if (!loose.every((path) => store.ledger.completeSize(path) !== undefined)) return undefined;
  if (hasLost(store, [...archives, ...loose], held)) return undefined;
  return { wanted, held: wanted, missing: { entries: 0, bytes: 0 }, rangeBytes: 0, ranges: [], byPriority: new Map() };
}

/** Keeps what a selection wants, for {@link planOfNothing}. @param planned of which nothing is missing any more */
export async function keepPlanned(
  store: Store,
  build: Build,
  selection: Selection,
  { placed, plan, isListed }: Pick<PlannedSync, 'placed' | 'plan' | 'isListed'>,
): Promise<void> {
  if (!isListed || !(await isDecided(build, selection))) return;
  const { archives } = build.cdnConfig;
  // One of no bytes needs no object, and there is hardly ever one.
  if (!loosePaths(build, placed).every((path) => store.ledger.completeSize(path) !== undefined)) return;
  if (placed.count > 0 && placed.archive(placed.count - 1) >= archives.length) return;
  keepWants(store, wantedOf(build, selection), wantsOf(placed, plan.wanted, archives.length));
}

/** The paths of wanted objects that are in no archive. */
export function loosePaths(build: Build, { loose }: PlacedEntries): string[] {
  return Array.from(loose, (row) => dataPath(build, toHex(row.subarray(0, 16))));
}

/** True where the configs of a build alone decide what a selection wants: no list of names does, and no list of it is lacking for now. */
async function isDecided(build: Build, { include }: Selection): Promise<boolean> {
  const { config, cdnConfig, group, fileIndex } = build;
  if (include.length > 0 || group?.isWhole === false) return false;
  if (cdnConfig.fileIndex !== undefined && fileIndex === undefined) return false;
  if (config.install !== undefined && (await build.install()) === undefined) return false;
  return true;
}

function wantedOf({ identity, cdnConfig }: Build, selection: Selection): WantedOf {
  return { identity, selection, archives: cdnConfig.archives.length };
}
