import type { EntryPlace } from '../builds/objects.ts';
import { isOurTrouble, isUnavailable, valueUnless } from '../core/errors.ts';
import type { Fetcher } from '../fetch/fetcher.ts';
import { isHeld } from '../fetch/held-spans.ts';
import { entryJobs } from '../fetch/plan/plan.ts';
import type { RangeJob } from '../fetch/transfer/range-job.ts';
import { objectPath } from '../store/layout.ts';
import type { BuildRow } from '../store/ledger/rows.ts';
import type { Store } from '../store/store.ts';
import type { BuildOpener } from './build-opener.ts';
import { type Damage, type FetchedDamage, needsFetch } from './damage.ts';

interface Repair {
  store: Store;
  open: BuildOpener;
}

/**
 * Fetches again what was damaged, from the hosts of a build that has it. What no host gives stays missing.
 * @param builds those whose hosts may be asked
 * @returns how much of it is held again, derived files included
 * @throws E_ABORTED, E_STORE…
 */
export async function repairDamage(
  repair: Repair,
  damages: readonly Damage[],
  builds: readonly BuildRow[],
): Promise<number> {
  const fetched = damages.filter(needsFetch);
  let repaired = damages.length - fetched.length;
  for (const [identity, group] of byBuild(fetched, builds)) repaired += await repairGroup(repair, identity, group);
  return repaired;
}

/** Damages with a build each that has hosts for them. */
function byBuild(damages: readonly FetchedDamage[], builds: readonly BuildRow[]): Map<BuildRow, FetchedDamage[]> {
  const groups = new Map<BuildRow, FetchedDamage[]>();
  for (const damage of damages) {
    const { cdnPath } = damage.object.name;
    const owner = builds.find((row) => row.cdnPath === cdnPath || row.configPath === cdnPath);
    if (owner !== undefined) groups.set(owner, [...(groups.get(owner) ?? []), damage]);
  }
  return groups;
}

async function repairGroup(
  { store, open }: Repair,
  identity: BuildRow,
  damages: readonly FetchedDamage[],
): Promise<number> {
  try {
    // This fetches what the build itself needs. One that cannot be opened, for no host answers, stays as it is.
    const { fetcher, close } = await open(identity, { offline: false });
    try {
      await bringObjects(fetcher, damages);
      await fetcher.fetchPlanned({ kind: 'data' }, (whole) => dataJobs(fetcher, damages, whole));
      await fetcher.fetchPlanned({ kind: 'patch' }, () => patchJobs(store, damages));
    } finally {
      await close();
    }
  } catch (error) {
    if (isOurTrouble(error)) throw error;
  }
  return damages.filter((damage) => isHeldAgain(store, damage)).length;
}

function isHeldAgain(store: Store, damage: FetchedDamage): boolean {
  if (damage.kind === 'entry') return isHeld(store, placeOf(damage));
  return store.ledger.completeSize(damage.object.path) !== undefined;
}

function placeOf(damage: FetchedDamage): EntryPlace {
  const { name: object, size } = damage.object;
  if (damage.kind === 'object') return { ekey: object.hash, object, loose: true, offset: 0, size };
  const { ekey, offset, size: entrySize } = damage.entry;
  return { ekey, object, loose: false, offset, size: entrySize };
}

async function bringObjects(fetcher: Fetcher, damages: readonly FetchedDamage[]): Promise<void> {
  for (const { kind, object } of damages) {
    if (kind !== 'object' || (object.form !== 'small' && object.form !== 'patch')) continue;
    await valueUnless(isUnavailable, fetcher.object(object.name));
  }
}

function dataJobs({ store, settings }: Fetcher, damages: readonly FetchedDamage[], whole: boolean): RangeJob[] {
  const missing = damages
    .filter(({ kind, object }) => object.name.kind === 'data' && (kind === 'entry' || object.form === 'loose'))
    .map(placeOf)
    .filter((place) => !isHeld(store, place));
  return entryJobs(store, missing, { ...settings.planOptions, whole });
}

/** A job for each patch of an archive: they are few, and no BLTE objects. */
function patchJobs(store: Store, damages: readonly FetchedDamage[]): RangeJob[] {
  return damages
    .filter(({ kind, object }) => object.name.kind === 'patch' && kind === 'entry')
    .map(placeOf)
    .map(({ ekey, offset, size, object }): RangeJob => {
      const path = objectPath(object);
      const targets = [{ ekey, offset, size, held: 0, raw: true }];
      return { path, ...store.files.partial(path), start: offset, end: offset + size, targets };
    });
}
