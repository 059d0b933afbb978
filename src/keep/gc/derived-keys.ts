import type { BuildConfig, ManifestKeys } from '../../formats/configs/build-config.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';

/** The keys of the derived files that a build has: of its archive group, its marks, its manifests and its names. */
export function derivedKeys({
  config,
  identity,
}: {
  config: BuildConfig;
  identity: Pick<BuildIdentity, 'buildConfig' | 'cdnConfig'>;
}): string[] {
  const { encoding, root, install, download, size, vfsRoot, patchIndex, vfs } = config;
  const manifests = [encoding, root, install, download, size, vfsRoot, patchIndex, ...vfs];
  const ckeys = manifests.flatMap((keys: ManifestKeys | undefined) => keys?.ckey ?? []);
  return [identity.cdnConfig, identity.buildConfig, ...ckeys];
}
