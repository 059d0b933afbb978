import type { EntryPlace } from '../builds/objects.ts';
import type { Fetcher } from '../fetch/fetcher.ts';
import { isHeld } from '../fetch/held-spans.ts';
import { entryJobs } from '../fetch/plan/plan.ts';
import { hasObject } from '../fetch/small-objects.ts';
import type { RangeJob } from '../fetch/transfer/range-job.ts';
import { type ObjectName, objectPath } from '../store/layout.ts';
import type { BuildRow } from '../store/ledger/rows.ts';
import type { Store } from '../store/store.ts';
import type { BuildOpener } from './build-opener.ts';
import type { FetchedDamage } from './damage.ts';

/** What only hosts can bring: small objects that lack, and damage that was found. */
interface Wreck {
  lacking: readonly ObjectName[];
  damages: readonly FetchedDamage[];
}

/**
 * Fetches what lacks or was damaged, from the hosts of the builds that it may belong to. What none of them gives stays missing.
 * @param builds those whose hosts may be asked
 * @returns paths of whole objects that nobody has
 * @throws E_ABORTED, E_STORE…
 */
export async function repairDamage(
  { store, opener }: { store: Store; opener: BuildOpener },
  wreck: Wreck,
  builds: readonly BuildRow[],
): Promise<Set<string>> {
  const all = [...wreck.lacking.map(objectPath), ...wreck.damages.map(({ object }) => object.path)];
  const nowhere = new Set(all);
  for (const build of builds) {
    const isOwn = ({ cdnPath }: ObjectName): boolean => cdnPath === build.cdnPath || cdnPath === build.configPath;
    const lacking = wreck.lacking.filter((name) => isOwn(name) && !hasObject(store, name));
    const damages = wreck.damages.filter((damage) => isOwn(damage.object.name) && !isHeldAgain(store, damage));
    if (lacking.length + damages.length === 0) continue;
    const { fetcher, close } = await opener.connect(build);
    try {
      const small = damages.filter(isSmall).map(({ object }) => object.name);
      const failures = [
        ...(await fetcher.bringObjects([...lacking, ...small])),
        ...(await fetcher.fetchPlanned({ kind: 'data' }, (whole) => dataJobs(fetcher, damages, whole))),
        ...(await fetcher.fetchPlanned({ kind: 'patch' }, () => patchJobs(store, damages))),
      ];
      const absent = new Set(failures.filter(({ code }) => code === 'E_NOT_FOUND').map(({ path }) => path));
      const asked = [...lacking.map(objectPath), ...damages.map(({ object }) => object.path)];
      for (const path of asked) if (!absent.has(path)) nowhere.delete(path);
    } finally {
      await close();
    }
  }
  return nowhere;
}

/** True when damage is mended. */
export function isHeldAgain(store: Store, damage: FetchedDamage): boolean {
  if (damage.kind === 'entry') return isHeld(store, placeOf(damage));
  return store.ledger.completeSize(damage.object.path) !== undefined;
}

function placeOf(damage: FetchedDamage): EntryPlace {
  const { name: object, size } = damage.object;
  if (damage.kind === 'object') return { ekey: object.hash, object, loose: true, offset: 0, size };
  const { ekey, offset, size: entrySize } = damage.entry;
  return { ekey, object, loose: false, offset, size: entrySize };
}

function isSmall({ kind, object }: FetchedDamage): boolean {
  return kind === 'object' && (object.form === 'small' || object.form === 'patch');
}

function dataJobs({ store, settings }: Fetcher, damages: readonly FetchedDamage[], whole: boolean): RangeJob[] {
  const missing = damages
    .filter((damage) => damage.object.name.kind === 'data' && !isSmall(damage))
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
