import type { Build } from '../../builds/build.ts';
import { indexName } from '../../builds/indices/indices.ts';
import type { EntryPlace } from '../../builds/objects.ts';
import { isUnavailable } from '../../core/errors.ts';
import type { Fetcher } from '../../fetch/fetcher.ts';
import type { TransferFailure } from '../../fetch/transfer/transfer.ts';
import { type ObjectName, objectPath } from '../../store/layout.ts';
import { patchJobs } from './patch-jobs.ts';
import { patchLists, readPatchList } from './patch-lists.ts';

/**
 * Brings the objects that a mirror has beside the data: the product config, the patch config and manifest, and every patch, in archives
 * and loose.
 * @returns the objects that no host gave right
 */
export async function syncPatches(fetcher: Fetcher, build: Build): Promise<TransferFailure[]> {
  const failures: TransferFailure[] = [];
  /** Runs `bring`; that no host has the object is a failure of the sync, other trouble ends it. */
  const attempt = async (name: ObjectName, bring: () => Promise<unknown>): Promise<void> => {
    try {
      await bring();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      failures.push({ path: objectPath(name), ekeys: [], code: error.code, message: error.message });
    }
  };
  failures.push(...(await fetcher.bringObjects(patchConfigs(build))));
  const patches: EntryPlace[] = [];
  for (const list of patchLists(build)) {
    await attempt(indexName(build.identity.cdnPath, 'patch', list.hash), async () => {
      const { index, placeOf } = await readPatchList(build, list);
      for (const entry of index) patches.push(placeOf(entry));
    });
  }
  // Patch archives are small: one range for all of one that is not held.
  const options = { ...fetcher.settings.planOptions, whole: true };
  const missing = await fetcher.fetchPlanned({ kind: 'patch' }, () => patchJobs(fetcher.store, patches, options));
  return [...failures, ...missing];
}

/** The small objects that have to do with patches, and the product config. */
function patchConfigs({ identity, config }: Build): ObjectName[] {
  const { cdnPath, configPath, productConfig } = identity;
  const { patch, patchConfig } = config;
  const names: ObjectName[] = [];
  if (productConfig) names.push({ cdnPath: configPath, kind: 'product', hash: productConfig });
  if (patchConfig !== undefined) names.push({ cdnPath, kind: 'config', hash: patchConfig });
  if (patch !== undefined) names.push({ cdnPath, kind: 'patch', hash: patch.ckey });
  return names;
}
