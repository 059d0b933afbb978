import { adoptObject } from '../fetch/small-objects.ts';
import { type ObjectName, objectPath } from '../store/layout.ts';
import type { BuildRow } from '../store/ledger/rows.ts';
import { spanBytes } from '../store/spans.ts';
import type { Store } from '../store/store.ts';
import type { UncheckedObject, VerifyResult } from '../verify/verify-result.ts';
import type { BuildOpener } from './build-opener.ts';
import { checkArchivesAgain, checkStore, type StoreCheck } from './check-store.ts';
import { needsFetch } from './damage.ts';
import { belongsTo, type KnownObject, knownObjects, lackingObjects } from './known-objects.ts';
import { recountBuilds } from './recount-builds.ts';
import { repairDamage } from './repair-store.ts';
import { VerifyRun } from './verify-run.ts';

interface VerifyStoreOptions {
  /** Only what has a part in this build. */
  build?: BuildRow | undefined;
  /** Fetch again what is damaged. */
  repair: boolean;
  opener: BuildOpener;
  signal?: AbortSignal | undefined;
  /** Called with the bytes that were checked, of how many. */
  onProgress?: ((phase: 'verify' | 'repair', done: number, total: number) => void) | undefined;
  /** Called with remarks for a person. */
  onNote?: ((text: string) => void) | undefined;
}

/**
 * Hashes again what a store holds, all of it or that of one build. Damaged bytes are no longer counted as held, and with `repair` they
 * are fetched again. A store that cannot be written is only checked. The caller holds the writer lock of one that can.
 * @throws E_ABORTED, E_STORE…
 */
export async function verifyStore(store: Store, options: VerifyStoreOptions): Promise<VerifyResult> {
  const { build, repair, opener, signal, onProgress, onNote } = options;
  store.ledger.check();
  const builds = build === undefined ? store.ledger.builds() : [build];
  adoptOwnObjects(store, builds);
  const check = whatToCheck(store, build, signal);
  const total = heldBytes(store, check.objects);
  const run = new VerifyRun(store, signal, (bytes) => onProgress?.('verify', bytes, total));
  await run.take(checkStore(check));
  if (repair) {
    onProgress?.('repair', 0, 0);
    await repairInRounds(run, { store, opener, builds, check });
  }
  const { result, damages } = run;
  const recount = { store, opener, repair, damages: damages.filter(needsFetch), isUnchecked: run.unchecked.size > 0 };
  const lost = await recountBuilds(recount, builds);
  result.bad.push(...lost.bad);
  if (repair) result.repaired = damages.length - run.unmended().length + lost.repaired;
  const unchecked = [...run.unchecked.values(), ...lackingOnes(store, builds, run), ...lost.missing];
  if (unchecked.length > 0) result.unchecked = unchecked;
  if (store.writable && result.bad.length > result.repaired)
    onNote?.('what is damaged is not held any more; sync again to fetch it');
  else if (unchecked.length > 0) onNote?.('sync again, or verify with --repair, to fetch what lacks');
  return result;
}

/** Takes small objects that lie there into a ledger that does not know them: without an index nothing of its archive could be checked. */
function adoptOwnObjects(store: Store, builds: readonly BuildRow[]): void {
  for (const build of builds) {
    // The CDN config comes first, and tells the rest.
    for (let isConfig = true; ; isConfig = false) {
      const unknown = lackingObjects(store, build).filter(
        (name) => store.ledger.completeSize(objectPath(name)) === undefined,
      );
      for (const name of unknown) adoptObject(store, name);
      if (!isConfig) break;
    }
  }
}

function whatToCheck(store: Store, build: BuildRow | undefined, signal: AbortSignal | undefined): StoreCheck {
  const { objects, strays } = knownObjects(store);
  if (build === undefined) return { store, objects, strays, derived: true, signal };
  return { store, objects: objects.filter(belongsTo(store, build)), strays: [], derived: false, signal };
}

function heldBytes(store: Store, objects: readonly KnownObject[]): number {
  const bytesOf = ({ path, complete, size }: KnownObject): number =>
    complete ? size : spanBytes(store.ledger.spans(path));
  return objects.reduce((sum, object) => sum + bytesOf(object), 0);
}

/** Enough for a CDN config, then the indices that it names, then what lies in their archives. */
const mostRounds = 8;

/**
 * Fetches what lacks or is damaged, then checks the archives whose index came with it, which may be damaged as well, until nothing changes
 * any more. Nothing but the ledger remembers how far it came: a run that is killed leaves what the next one finds again.
 */
async function repairInRounds(
  run: VerifyRun,
  {
    store,
    opener,
    builds,
    check,
  }: { store: Store; opener: BuildOpener; builds: readonly BuildRow[]; check: StoreCheck },
): Promise<void> {
  let before = '';
  for (let round = 0; round < mostRounds; round++) {
    const damages = run.unmended();
    const lacking = [
      ...indicesOfUnchecked(run, check.objects),
      ...builds.filter(isSynced).flatMap((build) => lackingObjects(store, build)),
    ];
    const now = [damages.length, run.damages.length, ...lacking.map(objectPath)].join();
    if (damages.length + lacking.length === 0 || now === before) return;
    before = now;
    await repairDamage({ store, opener }, { damages, lacking }, builds);
    const waiting = new Set(run.unchecked.keys());
    run.unchecked.clear();
    const objects = knownObjects(store).objects.filter(({ path }) => waiting.has(path));
    await run.take(checkArchivesAgain({ ...check, objects }));
  }
}

/** A build that was only looked at needs not be there. */
function isSynced({ selection }: BuildRow): boolean {
  return selection !== null;
}

function indicesOfUnchecked({ unchecked }: VerifyRun, objects: readonly KnownObject[]): ObjectName[] {
  return objects.filter(({ path }) => unchecked.has(path)).map(({ name }) => ({ ...name, suffix: '.index' }));
}

/** The small objects of synced builds that lack and were not told as damaged. */
function lackingOnes(store: Store, builds: readonly BuildRow[], { damages }: VerifyRun): UncheckedObject[] {
  const told = new Set(damages.map((damage) => ('object' in damage ? damage.object.path : '')));
  const paths = builds.filter(isSynced).flatMap((build) => lackingObjects(store, build).map(objectPath));
  return [...new Set(paths)]
    .filter((path) => !told.has(path))
    .map((name) => ({ name, bytes: 0, message: 'it is needed to read the build, and not held' }));
}
