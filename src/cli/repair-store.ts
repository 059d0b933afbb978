import type { EntryPlace } from '../builds/objects.ts';
import type { Cdn } from '../cdn/transport/get-object.ts';
import type { HealthKind } from '../cdn/transport/hosts.ts';
import { isOurTrouble, isUnavailable } from '../core/errors.ts';
import { completeLoose, entryJobs, isHeld, smallObject } from '../fetch/store-objects.ts';
import type { RangeJob } from '../fetch/transfer/fetch-range.ts';
import { transfer } from '../fetch/transfer/transfer.ts';
import type { KnownObject } from '../keep/known-objects.ts';
import type { DamagedEntry } from '../keep/store-checks.ts';
import { objectPath } from '../store/layout.ts';
import type { BuildRow } from '../store/ledger/ledger.ts';
import { checkObject } from '../verify/check-object.ts';
import { Session, type SessionHooks } from './compose.ts';
import type { GlobalOptions } from './global-options.ts';

/** Something that was found damaged: a whole object, an entry of an archive, or a file that is made again by itself. */
export type Damage =
  | { kind: 'object'; object: KnownObject }
  | { kind: 'entry'; object: KnownObject; entry: DamagedEntry }
  | { kind: 'derived' };

type BroughtDamage = Exclude<Damage, { kind: 'derived' }>;

/**
 * Fetches again what was damaged, from the hosts of a build that has it. What no host gives stays missing.
 * @returns how much of it is held again
 * @throws E_ABORTED, E_STORE…
 */
export async function repairDamage(
  options: GlobalOptions,
  damages: readonly Damage[],
  { build, hooks }: { build: BuildRow | undefined; hooks: SessionHooks },
): Promise<number> {
  const session = new Session(options, { create: false, threads: 0 }, hooks);
  try {
    const derived = damages.filter(({ kind }) => kind === 'derived').length;
    const brought = damages.filter((damage) => damage.kind !== 'derived');
    let repaired = derived;
    for (const [identity, group] of byBuild(session, brought, build))
      repaired += await repairGroup(session, identity, group);
    return repaired;
  } finally {
    await session.close();
  }
}

/** Damages with a build each that has hosts for them. */
function byBuild(
  session: Session,
  damages: readonly BroughtDamage[],
  build: BuildRow | undefined,
): Map<BuildRow, BroughtDamage[]> {
  const builds = build === undefined ? session.store.ledger.builds() : [build];
  const groups = new Map<BuildRow, BroughtDamage[]>();
  for (const damage of damages) {
    const { cdnPath } = damage.object.name;
    const owner = builds.find((row) => row.cdnPath === cdnPath || row.configPath === cdnPath);
    if (owner !== undefined) groups.set(owner, [...(groups.get(owner) ?? []), damage]);
  }
  return groups;
}

async function repairGroup(session: Session, identity: BuildRow, damages: readonly BroughtDamage[]): Promise<number> {
  try {
    // This fetches what the build itself needs, and says which hosts there are.
    (await session.openBuild(identity)).close();
    await bringObjects(session, damages);
    const cdn = await session.cdn();
    await bringEntries(session, cdn, { kind: 'data', jobs: dataJobs(session, damages) });
    await bringEntries(session, cdn, { kind: 'patch', jobs: patchJobs(session, damages) });
  } catch (error) {
    if (isOurTrouble(error)) throw error;
  }
  session.committer.flush();
  return damages.filter((damage) => isHeldAgain(session, damage)).length;
}

function isHeldAgain({ store }: Session, damage: BroughtDamage): boolean {
  if (damage.kind === 'entry') return isHeld(store, placeOf(damage));
  return store.ledger.completeSize(damage.object.path) !== undefined;
}

function placeOf(damage: BroughtDamage): EntryPlace {
  const { object } = damage;
  if (damage.kind === 'object') {
    return { ekey: object.name.hash, object: object.name, loose: true, offset: 0, size: object.size };
  }
  const { ekey, offset, size } = damage.entry;
  return { ekey, object: object.name, loose: false, offset, size };
}

async function bringObjects(session: Session, damages: readonly BroughtDamage[]): Promise<void> {
  for (const { kind, object } of damages) {
    const { name, form } = object;
    if (kind !== 'object' || (form !== 'small' && form !== 'patch')) continue;
    try {
      await smallObject(session.fetchTools(), name, (bytes) => checkObject(name, bytes));
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
  }
}

function dataJobs(session: Session, damages: readonly BroughtDamage[]): RangeJob[] {
  const places = damages.filter(
    ({ kind, object }) => object.name.kind === 'data' && (kind === 'entry' || object.form === 'loose'),
  );
  const { store, planOptions } = session.fetchTools();
  const missing = places.map(placeOf).filter((place) => !isHeld(store, place));
  return entryJobs(store, missing, planOptions);
}

/** A job for each patch of an archive: they are few, and no BLTE objects. */
function patchJobs({ store }: Session, damages: readonly BroughtDamage[]): RangeJob[] {
  return damages
    .filter(({ kind, object }) => object.name.kind === 'patch' && kind === 'entry')
    .map((damage): RangeJob => {
      const { ekey, offset, size, object } = placeOf(damage);
      const path = objectPath(object);
      const targets = [{ ekey, offset, size, held: 0, raw: true }];
      return { path, file: store.file(path), start: offset, end: offset + size, targets };
    });
}

async function bringEntries(
  session: Session,
  cdn: Cdn,
  { kind, jobs }: { kind: HealthKind; jobs: RangeJob[] },
): Promise<void> {
  if (jobs.length === 0) return;
  await transfer(jobs, {
    ...{ hosts: cdn.hosts, engine: await session.engine(), jobs: session.jobs, attemptsPerHost: cdn.attemptsPerHost },
    ...{ kind, signal: cdn.signal },
    onDone: (job, target) => completeLoose(session.store, job, target),
  });
}
