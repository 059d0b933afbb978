import type { BuildConfig } from '../formats/configs/build-config.ts';
import type { CdnConfig } from '../formats/configs/cdn-config.ts';
import type { ObjectName } from '../store/layout.ts';
import type { BuildIdentity } from '../store/ledger/rows.ts';
import { indexName } from './indices/indices.ts';

/** The small objects that a mirror of a build has beside: its patch config and manifest, the indices of its patches, the product config. */
export function patchObjects(
  { cdnPath, configPath, productConfig }: Pick<BuildIdentity, 'cdnPath' | 'configPath' | 'productConfig'>,
  { patch, patchConfig }: Pick<BuildConfig, 'patch' | 'patchConfig'>,
  { patchArchives, patchFileIndex }: Pick<CdnConfig, 'patchArchives' | 'patchFileIndex'>,
): ObjectName[] {
  const names: ObjectName[] = [];
  if (productConfig) names.push({ cdnPath: configPath, kind: 'product', hash: productConfig });
  if (patchConfig !== undefined) names.push({ cdnPath, kind: 'config', hash: patchConfig });
  if (patch !== undefined) names.push({ cdnPath, kind: 'patch', hash: patch.ckey });
  const indices = patchFileIndex === undefined ? patchArchives : [...patchArchives, patchFileIndex];
  return [...names, ...indices.map((hash) => indexName(cdnPath, 'patch', hash))];
}

/**
 * The small objects that a build itself is made of, and that it cannot do without: its two configs, the index of each archive and that of
 * the loose objects. Its manifests are entries like any other.
 * @param cdnConfig undefined where it is not held: then nothing tells the indices
 */
export function ownObjects(
  identity: Pick<BuildIdentity, 'cdnPath' | 'buildConfig' | 'cdnConfig'>,
  cdnConfig: Pick<CdnConfig, 'archives' | 'fileIndex'> | undefined,
): ObjectName[] {
  const { cdnPath } = identity;
  const { archives = [], fileIndex } = cdnConfig ?? {};
  const configs = [identity.buildConfig, identity.cdnConfig].map(
    (hash): ObjectName => ({ cdnPath, kind: 'config', hash }),
  );
  const indices = fileIndex === undefined ? archives : [...archives, fileIndex];
  return [...configs, ...indices.map((hash) => indexName(cdnPath, 'data', hash))];
}
