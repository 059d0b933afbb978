import type { Build } from '../builds/build.ts';
import type { Fetcher } from '../fetch/fetcher.ts';
import { requestCount } from '../fetch/plan/plan.ts';
import type { Selection } from '../fetch/plan/selection.ts';
import type { Amount } from '../store/ledger/rows.ts';
import type { PatchedAmount, PatchOptions } from './patches/patch-plan.ts';
import { planPatchedSync } from './sync-build.ts';

/** The work of a sync, or with a dry run the work that it would do, as `sync --json` prints it. */
export interface SyncReport {
  product: string;
  build: { name: string; buildConfig: string; cdnConfig: string };
  wanted: Amount;
  held: Amount;
  /** Entries that this run brought, manifests included; bytes and requests of all kinds that it took. */
  fetched: Amount & { requests: number };
  missing: Amount;
  /** With patches: what was made out of older entries (they are among `fetched.entries`); of a plan, what would be. */
  patched?: PatchedAmount;
  seconds: number;
  /** Of a plan: what would be fetched. */
  plan?: SyncPlan;
}

interface SyncPlan {
  /** Bytes that the ranges ask for, with the gaps between entries. */
  bytes: number;
  requests: number;
  priorities: ({ priority: number } & Amount)[];
  tags: ({ tag: string; type: number } & Amount)[];
}

/** Entries, bytes and requests that a fetcher brought so far. */
export function fetchedSoFar({ fetchedEntries, network }: Fetcher): SyncReport['fetched'] {
  const { bytes, requests } = network?.traffic ?? { bytes: 0, requests: 0 };
  return { entries: fetchedEntries, bytes, requests };
}

/** Plans a sync without fetching data. @returns the plan in figures, and why no patches would be used. @throws as planPatchedSync */
export async function reportPlan(
  fetcher: Fetcher,
  build: Build,
  selection: Selection,
  patchOptions: PatchOptions | undefined,
): Promise<Omit<SyncReport, 'product' | 'build' | 'seconds'> & { patchReason: string | undefined }> {
  const { plan, byTag, patches } = await planPatchedSync(fetcher, build, selection, { patchOptions, tags: true });
  const { maxRangeBytes } = fetcher.settings.planOptions;
  return {
    wanted: plan.wanted,
    held: plan.held,
    missing: plan.missing,
    fetched: fetchedSoFar(fetcher),
    ...(patches && { patched: patches.expected }),
    plan: {
      bytes: plan.rangeBytes + (patches?.jobBytes ?? 0),
      requests: requestCount(plan, maxRangeBytes) + (patches?.jobs.length ?? 0),
      priorities: [...plan.byPriority].sort(([a], [b]) => a - b).map(([priority, amount]) => ({ priority, ...amount })),
      tags: byTag,
    },
    patchReason: patches?.reason,
  };
}
