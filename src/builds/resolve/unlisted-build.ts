import { isDamage, isPakratError, isUnavailable, resultUnless, valueUnless } from '../../core/errors.ts';
import { decodeBuildConfig } from '../../formats/configs/build-config.ts';
import { ekeyStride } from '../../formats/manifests/encoding/pages.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';
import type { Store } from '../../store/store.ts';
import { type Build, openBuild } from '../build.ts';
import type { BuildPlace } from '../objects.ts';
import { versionOfBuildName } from './build-spec.ts';

/*
 * Builds that no version table names, asked for by their build config. A build needs a CDN config as well, which lists the archives, and
 * nothing in a build config tells which. A CDN config is a build's own where the archives hold what its encoding file lists.
 */

/** Entries that are looked up to see whether a CDN config fits. */
const sampleSize = 512;
/** The share of them that tells an own CDN config: makers of builds list entries that nobody has. */
const enough = 0.99;

/**
 * Opens a build that no version table names, under the first CDN config that lists its archives; else the one that lists most of it, and
 * says so. It is called by its build-name.
 * @param cdnConfigs those that may be its own, the likeliest first
 * @throws E_NOT_FOUND when no host has its build config; else as openBuild does with the last of them
 */
export async function openUnlisted(place: BuildPlace, cdnConfigs: readonly string[]): Promise<Build> {
  const { onNote } = place;
  const named = await withItsName(place);
  let best: { build: Build; share: number } | undefined;
  let problem: unknown;
  for (const cdnConfig of cdnConfigs) {
    const identity = { ...named, cdnConfig };
    const build = await valueUnless(
      (error) => {
        problem = error;
        return isUnavailable(error) || isDamage(error);
      },
      // Its encoding file says whether the indices are its own.
      openBuild({ ...place, identity, wantsDownload: false, mayLackEncoding: false, onNote: undefined }),
    );
    if (build === undefined) continue;
    const share = await build.lookUp(() => shareListed(build));
    if (best !== undefined && best.share >= share) {
      await build.close();
      continue;
    }
    await best?.build.close();
    best = { build, share };
    if (share >= enough) break;
  }
  if (best === undefined) throw problem;
  const { build, share } = best;
  await build.close();
  onNote?.(remarkOn(build.identity, share));
  return openBuild({ ...place, identity: build.identity });
}

function remarkOn({ buildConfig, cdnConfig }: BuildIdentity, share: number): string {
  const head = `no version table names build config ${buildConfig}`;
  if (share >= enough) return `${head}; CDN config ${cdnConfig} lists its archives`;
  const percent = Math.floor(share * 100);
  return `${head}, and no known CDN config lists all of its archives; ${cdnConfig} lists ${percent} % of its entries. \`pakrat sync --cdn-config\` names another`;
}

/** The build under the version of its build-name, or that itself. @throws E_NOT_FOUND when no host has its config */
async function withItsName({ identity, objects }: BuildPlace): Promise<BuildIdentity> {
  const { cdnPath, buildConfig: hash } = identity;
  const bytes = await objects.config({ cdnPath, kind: 'config', hash });
  const { name } = decodeBuildConfig(bytes);
  const known = versionOfBuildName(name) ?? { name: name === '' ? hash : name, buildId: identity.buildId };
  return { ...identity, ...known };
}

/** The share of a build's entries that its indices list, of a sample. */
function shareListed(build: Build): number {
  const { ekeyPageCount, ekeyPageSize } = build.encoding.layout;
  const step = Math.max(1, Math.floor((ekeyPageCount * ekeyPageSize) / ekeyStride / sampleSize));
  let row = 0;
  let asked = 0;
  let listed = 0;
  for (const page of build.encoding.ekeyPages()) {
    for (const entry of page) {
      if (row++ % step !== 0) continue;
      const ekey = entry.subarray(0, 16);
      asked += 1;
      if (build.group?.find(ekey) !== undefined || build.fileIndex?.find(ekey) !== undefined) listed += 1;
    }
  }
  return asked === 0 ? 1 : listed / asked;
}

/** The `build-name` of a build whose config a store holds; undefined where it does not, or the config is damaged. */
export function heldBuildName(store: Store, { cdnPath, buildConfig }: BuildIdentity): string | undefined {
  const isExpected = (error: unknown): boolean => isPakratError(error);
  const bytes = resultUnless(isExpected, () => store.readObject({ cdnPath, kind: 'config', hash: buildConfig }));
  return bytes && resultUnless(isExpected, () => decodeBuildConfig(bytes).name);
}
