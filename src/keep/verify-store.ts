import { countRows } from '../core/tables/bounded-rows.ts';
import { adoptObject, hasObject } from '../fetch/small-objects.ts';
import { type ObjectName, objectPath } from '../store/layout.ts';
import type { BuildRow } from '../store/ledger/rows.ts';
import { spanBytes } from '../store/spans.ts';
import type { Store } from '../store/store.ts';
import type { UncheckedObject, VerifyResult } from '../verify/verify-result.ts';
import type { BuildOpener } from './build-opener.ts';
import { checkHistory, openHistory } from './check-history.ts';
import { checkArchivesAgain, checkStore, type StoreCheck } from './check-store.ts';
import { countDamage, type FetchedDamage, needsFetch } from './damage.ts';
import { checkRowSums } from './damaged-rows.ts';
import { belongsTo, besides, type KnownObject, knownObjects, lackingObjects } from './known-objects.ts';
import type { ProofThreads } from './proofs/prove-objects.ts';
import { recountBuilds, rowNow } from './recount-builds.ts';
import { countLacking, repairDamage } from './repair-store.ts';
import { VerifyRun } from './verify-run.ts';

interface VerifyStoreOptions {
  /** Only what has a part in this build. */
  build?: BuildRow | undefined;
  /** Fetch again what is damaged. */
  repair: boolean;
  opener: BuildOpener;
  /** Threads to hash in. */
  use?: ProofThreads | undefined;
  signal?: AbortSignal | undefined;
  /** Called with the bytes that were checked, of how many. */
  onProgress?: ((phase: 'verify' | 'repair', done: number, total: number) => void) | undefined;
  /** Called with remarks for a person. */
  onNote?: ((text: string) => void) | undefined;
}

/**
 * Hashes again what a store holds, all of it or that of one build. Damaged bytes are no longer counted as held, and with `repair` they
 * are fetched again. A store that cannot be written is only checked. Others may work on the store meanwhile.
 * @throws E_ABORTED, E_STORE…
 */
export async function verifyStore(store: Store, options: VerifyStoreOptions): Promise<VerifyResult> {
  const { build, repair, opener, use, signal, onProgress, onNote } = options;
  store.ledger.check();
  const { askAgain } = opener;
  const { writable } = store;
  const rows = await checkRowSums(store.ledger, { writable, repair, askAgain, openHistory: () => openHistory(store) });
  const history = checkHistory(store, { repair });
  const builds = build === undefined ? store.ledger.builds() : [build];
  adoptOwnObjects(store, builds);
  const what = whatToCheck(store, build);
  const total = heldBytes(store, what.objects);
  const check = { ...what, heldBytes: total, keepsUnread: !repair, use, signal };
  const run = new VerifyRun(store, signal, (bytes) => onProgress?.('verify', bytes, total));
  await run.take(checkStore(check));
  if (repair) {
    onProgress?.('repair', 0, 0);
    await repairInRounds(run, { store, opener, builds, check });
  }
  const { result, damages } = run;
  const recount = {
    store,
    opener,
    repair,
    damages: damages.filter(needsFetch),
    isUnchecked: run.unchecked.size > 0,
    nowhere: run.nowhere,
    uncounted: new Set([...rows.uncounted, ...history.added]),
  };
  const lost = await recountBuilds(
    recount,
    builds.filter(({ buildConfig }) => !rows.untouched.has(buildConfig)),
  );
  for (const problem of [...lost.bad, ...rows.bad, ...history.bad]) run.tell(problem);
  result.repaired = history.repaired;
  if (repair) {
    forgetNowhere(run, check, builds, lost.wanted);
    result.repaired += run.mendedCount() + lost.repaired + rows.repaired;
  }
  const unchecked = [...run.unchecked.values(), ...lackingOnes(check, builds, run), ...lost.missing];
  if (unchecked.length > 0) result.unchecked = unchecked;
  if (run.unread > 0)
    onNote?.(
      `what cannot be read is kept: see to the disk${repair ? '' : ', or verify with --repair to fetch it again'}`,
    );
  // To fetch brings no history back.
  const left = countRows(result.bad) - history.bad.length - (result.repaired - history.repaired);
  if (store.writable && left > run.unread) onNote?.('what is damaged is not held any more; sync again to fetch it');
  else if (unchecked.length > 0 && run.unread === 0)
    onNote?.('sync again, or verify with --repair, to fetch what lacks');
  return result;
}

/** Takes small objects that lie there into a ledger that does not know them: without an index nothing of its archive could be checked. */
function adoptOwnObjects(store: Store, builds: readonly BuildRow[]): void {
  const adopt = (names: readonly ObjectName[]): void => {
    for (const name of names) if (store.ledger.completeSize(objectPath(name)) === undefined) adoptObject(store, name);
  };
  // CDN configs come first, and tell the rest.
  for (const build of builds) for (let round = 0; round < 2; round++) adopt(lackingObjects(store, build));
  // Archives of patches, and those that no build has any more.
  const { objects } = knownObjects(store);
  adopt(objects.filter(({ form }) => form === 'archive').map(indexOf));
  adopt(objects.filter(isLostSmall).map(({ name }) => name));
}

function indexOf({ name }: KnownObject): ObjectName {
  return { ...name, suffix: '.index' };
}

function isLostSmall({ lost, form }: KnownObject): boolean {
  return lost && (form === 'small' || form === 'patch');
}

function whatToCheck(store: Store, build: BuildRow | undefined): Omit<StoreCheck, 'keepsUnread'> {
  const { objects, strays } = knownObjects(store);
  if (build === undefined) return { store, objects, strays, derived: true };
  return { store, objects: objects.filter(belongsTo(store, build)), strays: [], derived: false };
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
    const damages = [...run.unmended(), ...lostLoose(check)];
    const indices = check.objects.filter(({ path }) => run.unchecked.has(path)).map(indexOf);
    const lacking = uniqueNames([...indices, ...lackingNames(check, builds)]);
    const left = damages.reduce((sum, damage) => sum + countLacking(store, damage), 0);
    const now = [left, countDamage(run.damages), ...lacking.map(objectPath)].join();
    if (damages.length + lacking.length === 0 || now === before) return;
    before = now;
    for (const path of await repairDamage({ store, opener }, { damages, lacking }, builds)) run.nowhere.add(path);
    const waiting = new Set(run.unchecked.keys());
    run.unchecked.clear();
    const objects = knownObjects(store).objects.filter(({ path }) => waiting.has(path));
    await run.take(checkArchivesAgain({ ...check, objects }));
  }
}

/**
 * Forgets rows about objects that lack, that no host has, and that no build needs: a row whose path is damaged names such an object. What it
 * was about is found as lost.
 */
function forgetNowhere(
  run: VerifyRun,
  { store, objects }: StoreCheck,
  builds: readonly BuildRow[],
  wanted: ReadonlySet<string>,
): void {
  const own = new Set(builds.flatMap((build) => [...lackingObjects(store, build), ...besides(build)]).map(objectPath));
  for (const { path } of objects) {
    const isHeld = store.ledger.completeSize(path) !== undefined;
    if (isHeld || !run.nowhere.has(path) || own.has(path) || wanted.has(path)) continue;
    store.ledger.removeObject(path);
    run.withdrawn.add(path);
  }
}

/** The small objects that lack: of synced builds (one that was only looked at needs not be there), and those that were held once. */
function lackingNames({ store, objects }: StoreCheck, builds: readonly BuildRow[]): ObjectName[] {
  const own = builds.flatMap((build) => {
    const names = build.selection === null ? [] : lackingObjects(store, build);
    // Asked afterwards: a build leaves the ledger before its objects do.
    return names.length > 0 && rowNow(store, build) === undefined ? [] : names;
  });
  const known = new Set([...store.ledger.objects()].map(({ path }) => path));
  const lost = objects.filter((object) => isLostSmall(object) && known.has(object.path)).map(({ name }) => name);
  return uniqueNames([...own, ...lost]).filter((name) => !hasObject(store, name));
}

function uniqueNames(names: readonly ObjectName[]): ObjectName[] {
  return [...new Map(names.map((name) => [objectPath(name), name])).values()];
}

/** Loose objects that were lost before this run, and are not held again. */
function lostLoose({ store, objects }: StoreCheck): FetchedDamage[] {
  return objects
    .filter(({ lost, form, path }) => lost && form === 'loose' && store.ledger.completeSize(path) === undefined)
    .map((object) => ({ kind: 'object', object }));
}

/** The small objects that lack and were not told as damaged. */
function lackingOnes(check: StoreCheck, builds: readonly BuildRow[], { damages }: VerifyRun): UncheckedObject[] {
  const told = new Set(damages.map((damage) => ('object' in damage ? damage.object.path : '')));
  return lackingNames(check, builds)
    .map(objectPath)
    .filter((path) => !told.has(path))
    .map((name) => ({ name, bytes: 0, message: 'it is not held, and a build lacks it' }));
}
