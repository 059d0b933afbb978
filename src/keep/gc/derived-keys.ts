import type { BuildConfig, ManifestKeys } from '../../formats/configs/build-config.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';

/** The keys of the derived files that a build has: of its archive group, its manifests and its names; its marks go by its build config. */
export function derivedKeys({
  config,
  identity,
}: {
  config: BuildConfig;
  identity: Pick<BuildIdentity, 'cdnConfig'>;
}): string[] {
  const { encoding, root, install, download, size, vfsRoot, patchIndex, vfs } = config;
  const manifests = [encoding, root, install, download, size, vfsRoot, patchIndex, ...vfs];
  const ckeys = manifests.flatMap((keys: ManifestKeys | undefined) => keys?.ckey ?? []);
  return [identity.cdnConfig, ...ckeys];
}
