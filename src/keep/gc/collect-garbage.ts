import { join } from 'node:path';
import { pause } from '../../core/breathe.ts';
import { codeOf, messageOf, PakratError, resultUnless } from '../../core/errors.ts';
import { diskBytesOf } from '../../files/copies/holes.ts';
import { namesIn, type OnUnread } from '../../files/walk.ts';
import { decodeBuildConfig } from '../../formats/configs/build-config.ts';
import { removeDerived } from '../../store/derived/derived-file.ts';
import { type BuildRow, keyOf } from '../../store/ledger/rows.ts';
import type { Store } from '../../store/store.ts';
import type { BuildOpener } from '../build-opener.ts';
import { decodeIf } from '../known-objects.ts';
import { wholeSetting } from '../recount-builds.ts';
import { derivedKeys } from './derived-keys.ts';
import { finishLeaving, type GivenBack, giveBack } from './give-back.ts';
import type { KeepRules } from './going-builds.ts';
import { type GcPlan, planGc } from './plan-gc.ts';

/** What goes or went, as `gc --json` prints it. */
export interface GcReport {
  /** True when nothing was done. */
  dryRun: boolean;
  /** Builds that are forgotten. */
  builds: { product: string; name: string; buildConfig: string }[];
  /** Objects of which something goes, and their bytes that are not held any more. */
  objects: number;
  bytes: number;
  /** Bytes that the file system has again, or would have. */
  diskBytes: number;
  /** CDN paths of which nothing goes, and why. */
  spared: { cdnPath: string; reason: string }[];
  /** Objects that others wrote to all the time: the next run takes them. */
  inUse: string[];
  /** Objects of which a broken disk does not give what is left, so that what went of them takes room still: the next run tries again. */
  unread: string[];
  /** Bytes that stay held. */
  kept: { bytes: number };
}

interface GcOptions {
  rules: KeepRules;
  /** Builds that go, whatever the rules say. */
  forget?: readonly BuildRow[] | undefined;
  dryRun: boolean;
  opener: BuildOpener;
  signal?: AbortSignal | undefined;
  onProgress?: ((phase: 'plan' | 'gc', done: number, total: number) => void) | undefined;
  onNote?: ((text: string) => void) | undefined;
  /** What goes is added to it, also by a run that fails then. */
  report: GcReport;
}

/** Times that a plan is made anew because builds were added on the way. */
const mostPlans = 8;
const askAgainMs = 200;

/**
 * Forgets the builds that the rules let go, then gives back what no build wants. It can be ended anywhere: the next run goes on.
 * @throws E_STORE_DAMAGED for a ledger that does not tell rightly what is to be kept, E_ABORTED, E_STORE…
 */
export async function collectGarbage(store: Store, options: GcOptions): Promise<GcReport> {
  const { rules, forget, opener, signal, dryRun, report, onProgress } = options;
  const onBuild = (done: number, total: number): void => onProgress?.('plan', done, total);
  const plan = (): Promise<GcPlan> => planGc(store, opener, { rules, forget, signal, onBuild });
  if (dryRun) return reportPlan(store, await plan(), options);
  const release = await lockPatiently(store, options);
  try {
    addTo(report, { objects: 0, bytes: 0, ...(await finishLeaving(store, signal)) });
    for (let round = 0; round < mostPlans; round++) {
      const made = await plan();
      if (await carryOut(store, made, options)) return report;
    }
    throw new PakratError('E_STORE_LOCKED', 'builds are added faster than it can be planned what may go', {
      hint: 'Run it again when fewer syncs begin.',
    });
  } finally {
    release();
  }
}

/** The report of a run that did nothing yet. */
export function emptyReport(): GcReport {
  const nothing = { builds: [], objects: 0, bytes: 0, diskBytes: 0, spared: [], inUse: [], unread: [] };
  return { dryRun: false, ...nothing, kept: { bytes: 0 } };
}

function reportPlan(store: Store, { going, dead, spared, keptBytes }: GcPlan, options: GcOptions): GcReport {
  const derived = unusedDerived(store, going, options);
  return {
    dryRun: true,
    builds: going.map(nameOf),
    objects: dead.length,
    bytes: dead.reduce((sum, { bytes }) => sum + bytes, 0),
    diskBytes: dead.reduce((sum, { diskBytes }) => sum + diskBytes, diskBytesOf(derived)),
    spared,
    inUse: [],
    unread: [],
    kept: { bytes: keptBytes },
  };
}

function nameOf({ product, name, buildConfig }: BuildRow): GcReport['builds'][number] {
  return { product, name, buildConfig };
}

/** Does what was planned, and adds it to the report. @returns false when the builds that are kept changed on the way */
async function carryOut(store: Store, plan: GcPlan, options: GcOptions): Promise<boolean> {
  const { report, signal, onProgress } = options;
  const { going, dead, spared, keptBytes } = plan;
  const derived = unusedDerived(store, going, options);
  const signature = forgetBuilds(store, plan);
  if (signature === undefined) return false;
  report.builds.push(...going.map(nameOf));
  // Before the bytes, which take their time: a run that is ended there leaves none of them.
  report.diskBytes += diskBytesOf(derived);
  for (const file of derived) removeDerived(file);
  const total = dead.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  const given = await giveBack(
    store,
    { dead, signature },
    {
      signal,
      onProgress: (bytes) => {
        done += bytes;
        onProgress?.('gc', done, total);
      },
    },
  );
  addTo(report, given);
  if (given.isOutdated) return false;
  report.spared = spared;
  report.inUse = given.inUse;
  report.kept = { bytes: keptBytes };
  return true;
}

type Given = Pick<GivenBack, 'objects' | 'bytes' | 'diskBytes' | 'unread'>;

function addTo(report: GcReport, { objects, bytes, diskBytes, unread }: Given): void {
  report.objects += objects;
  report.bytes += bytes;
  report.diskBytes += diskBytes;
  report.unread = [...new Set([...report.unread, ...unread])];
}

/** Forgets builds, unless those that are kept are not the ones of the plan any more. @returns the signature of what is left; undefined then */
function forgetBuilds({ ledger }: Store, { going, signature }: GcPlan): string | undefined {
  const { keeping } = ledger;
  return ledger.transaction(() => {
    if (keeping.signature() !== signature) return undefined;
    for (const row of going) {
      keeping.forget(row);
      ledger.removeSetting(wholeSetting(row));
    }
    return keeping.signature();
  });
}

/** Keys of the derived files of builds, as far as their configs tell them. */
function derivedOf(store: Store, builds: readonly BuildRow[]): Set<string> {
  const keys = builds.flatMap((identity) => [
    // Its marks are known by this, whatever else its config would tell.
    identity.buildConfig,
    ...decodeIf(store, { cdnPath: identity.cdnPath, kind: 'config', hash: identity.buildConfig }, (bytes) =>
      derivedKeys({ config: decodeBuildConfig(bytes), identity }),
    ),
  ]);
  return new Set(keys);
}

/** Derived files of builds that go, which none of those has that are left. They could be made again. */
function unusedDerived(store: Store, going: readonly BuildRow[], { onNote }: GcOptions): string[] {
  const gone = derivedOf(store, going);
  if (gone.size === 0) return [];
  const keys = new Set(going.map(keyOf));
  const left = derivedOf(
    store,
    store.ledger.builds().filter((row) => !keys.has(keyOf(row))),
  );
  const { groups, manifests, names, marks, wants } = store.layout;
  const onUnread: OnUnread = (path, error) =>
    onNote?.(`look-up files in ${path} stay, for it cannot be read: ${messageOf(error)}`);
  return [groups, manifests, names, marks, wants].flatMap((folder) =>
    namesIn(folder, undefined, onUnread).flatMap((name) => {
      const key = name.slice(0, 32);
      return gone.has(key) && !left.has(key) ? [join(folder, name)] : [];
    }),
  );
}

/** Only one process gives back at a time; the others wait for it. */
async function lockPatiently(store: Store, { signal, onNote }: GcOptions): Promise<() => void> {
  for (let told = false; ; told = true) {
    const release = resultUnless((error) => codeOf(error) === 'E_STORE_LOCKED', store.lock);
    if (release !== undefined) return release;
    if (!told) onNote?.('another process is giving space of this store back; waiting for it');
    await pause(askAgainMs, signal);
  }
}
