import { versionOfBuildName } from '../../../builds/resolve/build-spec.ts';
import { identityOfRow } from '../../../builds/resolve/table-identity.ts';
import { isKeyHex } from '../../../core/bytes.ts';
import { isPakratError, resultUnless } from '../../../core/errors.ts';
import { type Bpsv, type BpsvRow, cell, decodeBpsv } from '../../../formats/services/bpsv.ts';
import type { FolderConfigs, ListedBuild } from '../../../installs/cdn-folder/configs.ts';
import { usualConfigPath } from '../../../store/layout.ts';
import type { BuildIdentity } from '../../../store/ledger/rows.ts';

/** The builds that tables of the version services name, as they lie in a folder. Tables that are none are passed over. */
export function buildsOfTables(
  product: string,
  { versions, cdns }: { versions: Uint8Array; cdns: Uint8Array },
  region: string,
): BuildIdentity[] {
  const tables = resultUnless(isPakratError, (): [Bpsv, Bpsv] => [decodeBpsv(versions), decodeBpsv(cdns)]);
  if (tables === undefined) return [];
  const [list, hosts] = tables;
  const isOwn = (row: BpsvRow): number => (cell(row, 'Region')?.toLowerCase() === region.toLowerCase() ? 0 : 1);
  const rows = [...list.rows].sort((a, b) => isOwn(a) - isOwn(b));
  const all = rows.flatMap(
    (row) => resultUnless(isPakratError, () => identityOfRow({ product, region }, row, hosts, () => {})) ?? [],
  );
  return [...new Map(all.reverse().map((build) => [build.buildConfig, build])).values()];
}

/** A build config that lies in a folder and no table names, and what is there beside it. */
interface UnlistedBuild {
  build: ListedBuild;
  product: string;
  cdnPath: string;
  region: string;
  configs: FolderConfigs;
  /** The number of a CDN config's archives that are in the folder. */
  archivesHere: (archives: readonly string[]) => number;
}

/** The identity of a build by its config alone; undefined where no CDN config is there. */
export function identityOfConfig(unlisted: UnlistedBuild): BuildIdentity | undefined {
  const { build, product, cdnPath, region, configs } = unlisted;
  const cdnConfig = cdnConfigFor(unlisted);
  if (cdnConfig === undefined) return undefined;
  const { key, name } = build;
  const known = versionOfBuildName(name) ?? { name: name === '' ? key : name, buildId: null };
  const [keyRing = null, another] = configs.keyRings;
  return {
    product,
    name: known.name,
    buildId: known.buildId,
    buildConfig: key,
    cdnConfig,
    productConfig: null,
    keyRing: another === undefined ? keyRing : null,
    region,
    cdnPath,
    configPath: usualConfigPath,
    hosts: [],
  };
}

/** The CDN config that names the build, the sooner in its list the better; else that of which most archives are here. */
function cdnConfigFor({ build, configs, archivesHere }: UnlistedBuild): string | undefined {
  const rank = (builds: readonly string[]): number => {
    const at = builds.indexOf(build.key);
    return at === -1 ? Number.MAX_SAFE_INTEGER : at;
  };
  const ranked = configs.cdns.map(({ key, config }) => ({
    key,
    rank: rank(config.builds),
    here: archivesHere(config.archives),
  }));
  return ranked.sort((a, b) => a.rank - b.rank || b.here - a.here)[0]?.key;
}

/** True for an identity out of a foreign ledger or table whose parts can be what they should. */
export function isPlausible({ buildConfig, cdnConfig, productConfig, keyRing, product }: BuildIdentity): boolean {
  const keys = [buildConfig, cdnConfig, productConfig, keyRing].filter((key) => key !== null);
  return keys.every(isKeyHex) && /^[\w.-]+$/.test(product);
}
