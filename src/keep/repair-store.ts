import type { EntryPlace } from '../builds/objects.ts';
import type { Fetcher } from '../fetch/fetcher.ts';
import { entryJobs } from '../fetch/plan/plan.ts';
import { hasObject } from '../fetch/small-objects.ts';
import type { RangeJob } from '../fetch/transfer/range-job.ts';
import type { TransferFailure } from '../fetch/transfer/transfer.ts';
import { type ObjectName, objectPath } from '../store/layout.ts';
import type { BuildRow } from '../store/ledger/rows.ts';
import { covers, mergeSpans, type Span, touches } from '../store/spans.ts';
import type { Store } from '../store/store.ts';
import type { BuildOpener } from './build-opener.ts';
import { countDamage, type FetchedDamage } from './damage.ts';
import { type ArchiveEntry, indexedEntries } from './store-checks.ts';

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
    const damages = wreck.damages.filter((damage) => isOwn(damage.object.name) && countLacking(store, damage) > 0);
    if (lacking.length + damages.length === 0) continue;
    const { fetcher, close } = await opener.connect(build);
    try {
      const absent = new Set<string>();
      const note = (failures: readonly TransferFailure[]): void => {
        for (const { code, path } of failures) if (code === 'E_NOT_FOUND') absent.add(path);
      };
      const small = damages.filter(isSmall).map(({ object }) => object.name);
      note(await fetcher.bringObjects([...lacking, ...small]));
      for (const part of parts(damages)) {
        note(await fetcher.fetchPlanned({ kind: 'data' }, (whole) => dataJobs(fetcher, part, whole)));
        note(await fetcher.fetchPlanned({ kind: 'patch' }, () => patchJobs(store, part)));
      }
      const asked = [...lacking.map(objectPath), ...damages.map(({ object }) => object.path)];
      for (const path of asked) if (!absent.has(path)) nowhere.delete(path);
    } finally {
      await close();
    }
  }
  return nowhere;
}

/** How much of damage is not held again: an object is one. */
export function countLacking(store: Store, damage: FetchedDamage): number {
  // Mostly nothing of it is held yet, and no index need be read.
  if (damage.kind === 'entries') {
    const held = store.ledger.spans(damage.object.path);
    if (!damage.spans.some(({ start, end }) => touches(held, start, end))) return damage.count;
  }
  const places = lackingPlaces(store, damage);
  // Without its index nobody knows.
  if (places === undefined) return damage.kind === 'entries' ? damage.count : 1;
  let count = 0;
  for (const _ of places) count += 1;
  return damage.kind === 'entries' ? Math.min(count, damage.count) : count;
}

/** The places of what is not held again; of an archive those of the entries in which something was wrong. @returns undefined for an archive without its index */
function lackingPlaces(store: Store, damage: FetchedDamage): Iterable<EntryPlace> | undefined {
  const { path, name: object, size } = damage.object;
  if (damage.kind === 'object') {
    const isHeld = store.ledger.completeSize(path) !== undefined;
    return isHeld ? [] : [{ ekey: object.hash, object, loose: true, offset: 0, size }];
  }
  const entries = indexedEntries(store, object);
  return (
    entries && lackingEntries(entries, { object, wrong: mergeSpans(damage.spans), held: store.ledger.spans(path) })
  );
}

function* lackingEntries(
  entries: Iterable<ArchiveEntry>,
  { object, wrong, held }: { object: ObjectName; wrong: readonly Span[]; held: readonly Span[] },
): Generator<EntryPlace> {
  for (const { ekey, offset, size } of entries) {
    const isWrong = touches(wrong, offset, offset + size);
    if (isWrong && !covers(held, offset, offset + size)) yield { ekey, object, loose: false, offset, size };
  }
}

function isSmall({ kind, object }: FetchedDamage): boolean {
  return kind === 'object' && (object.form === 'small' || object.form === 'patch');
}

/** Damaged things that are asked for together: each is an object while its range is fetched. */
const mostTogether = 50_000;

/** Damage in parts that are mended one after the other. */
function* parts(damages: readonly FetchedDamage[]): Generator<FetchedDamage[]> {
  let part: FetchedDamage[] = [];
  let count = 0;
  for (const damage of damages) {
    const more = countDamage([damage]);
    if (part.length > 0 && count + more > mostTogether) {
      yield part;
      part = [];
      count = 0;
    }
    part.push(damage);
    count += more;
  }
  if (part.length > 0) yield part;
}

function dataJobs({ store, settings }: Fetcher, damages: readonly FetchedDamage[], whole: boolean): RangeJob[] {
  const missing = damages
    .filter((damage) => damage.object.name.kind === 'data' && !isSmall(damage))
    .flatMap((damage) => [...(lackingPlaces(store, damage) ?? [])]);
  return entryJobs(store, missing, { ...settings.planOptions, whole });
}

/** A job for each patch of an archive: they are few, and no BLTE objects. */
function patchJobs(store: Store, damages: readonly FetchedDamage[]): RangeJob[] {
  return damages
    .filter(({ kind, object }) => object.name.kind === 'patch' && kind === 'entries')
    .flatMap((damage) => [...(lackingPlaces(store, damage) ?? [])])
    .map(({ ekey, offset, size, object }): RangeJob => {
      const path = objectPath(object);
      const targets = [{ ekey, offset, size, held: 0, raw: true }];
      return { path, ...store.files.partial(path), start: offset, end: offset + size, targets };
    });
}
