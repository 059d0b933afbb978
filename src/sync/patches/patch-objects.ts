import type { Build } from '../../builds/build.ts';
import type { EntryPlace } from '../../builds/objects.ts';
import { patchObjects } from '../../builds/own-objects.ts';
import { valueUnless } from '../../core/errors.ts';
import type { Fetcher } from '../../fetch/fetcher.ts';
import { HeldSpans } from '../../fetch/held-spans.ts';
import { hasObject } from '../../fetch/small-objects.ts';
import type { TransferFailure } from '../../fetch/transfer/transfer.ts';
import type { Store } from '../../store/store.ts';
import { patchJobs } from './patch-jobs.ts';
import { isNoList, patchLists, readPatchList } from './patch-lists.ts';

/**
 * Brings the objects that a mirror has beside the data: the product config, the patch config and manifest, and every patch, in archives
 * and loose.
 * @returns the objects that no host gave right
 */
export async function syncPatches(fetcher: Fetcher, build: Build): Promise<TransferFailure[]> {
  const { store, settings } = fetcher;
  const { identity, config, cdnConfig } = build;
  const small = patchObjects(identity, config, cdnConfig).filter((name) => !hasObject(store, name));
  const failures = await fetcher.bringObjects(small);
  const patches = await listPatches(build);
  // Patch archives are small: one range for all of one that is not held.
  const options = { ...settings.planOptions, whole: true };
  const missing = await fetcher.fetchPlanned({ kind: 'patch' }, () => patchJobs(store, patches, options));
  return [...failures, ...missing];
}

/** The patches of a build that the store does not hold, as far as their indices can be had. */
export async function missingPatches(store: Store, build: Build): Promise<EntryPlace[]> {
  const held = new HeldSpans(store);
  return (await listPatches(build)).filter((patch) => !held.hasEntry(patch));
}

async function listPatches(build: Build): Promise<EntryPlace[]> {
  const patches: EntryPlace[] = [];
  for (const list of patchLists(build)) {
    const read = await valueUnless(isNoList, readPatchList(build, list));
    if (read !== undefined) for (const entry of read.index) patches.push(read.placeOf(entry));
  }
  return patches;
}
