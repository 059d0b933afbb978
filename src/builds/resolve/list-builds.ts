import { rowOfRegion } from '../../cdn/versions/region-rows.ts';
import { isDamage, resultUnless } from '../../core/errors.ts';
import { groupBy } from '../../core/tables/group-by.ts';
import { waitForAll } from '../../core/wait-for-all.ts';
import { decodeCdnConfig } from '../../formats/configs/cdn-config.ts';
import { type Bpsv, cell } from '../../formats/services/bpsv.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';
import { productAnswer, type ResolveContext } from './product-answer.ts';
import { cdnConfigsFor, type ResolvedBuild } from './resolve-build.ts';
import { seenVersions } from './seen-builds.ts';
import { identityOfRow } from './table-identity.ts';

/**
 * Gives the bytes of the CDN config of a build; undefined where it cannot be had.
 * @param mayFetch false: from the store alone
 */
type ReadCdnConfig = (identity: BuildIdentity, mayFetch: boolean) => Promise<Uint8Array | undefined>;

/**
 * Every build of a product that anything tells of, the newest first: the live one of the region, then those that version services named, now
 * or ever, in any region, by the age that the services tell. A build that a CDN config alone names stands where that has it among the others;
 * one that only the ledger knows comes last.
 * @throws as productAnswer, E_FORMAT when the tables lack what a build needs
 */
export async function listBuilds(
  context: ResolveContext,
  product: string,
  readCdnConfig: ReadCdnConfig,
): Promise<ResolvedBuild[]> {
  const [{ bpsv: live }, { bpsv: cdns }] = await waitForAll(
    productAnswer(context, product, 'versions'),
    productAnswer(context, product, 'cdns'),
  );
  const builds = namedByServices(context, product, { live, cdns });
  const liveConfigs = new Set(live.rows.map((row) => cell(row, 'CDNConfig')?.toLowerCase()));
  const lists: BuildsOfConfig[] = [];
  for (const [cdnConfig, [identity]] of groupBy(builds, (build) => build.cdnConfig)) {
    if (identity === undefined) continue;
    const bytes = await readCdnConfig(identity, liveConfigs.has(cdnConfig));
    const config = bytes && resultUnless(isDamage, () => decodeCdnConfig(bytes));
    if (config !== undefined) lists.push({ cdnConfig, builds: newestFirst(config.builds, identity) });
  }
  return withNamed(context, builds, lists);
}

/** The builds that the tables of version services name, or named, the newest first. */
function namedByServices(
  { ledger, region, note }: ResolveContext,
  product: string,
  { live, cdns }: { live: Bpsv; cdns: Bpsv },
): BuildIdentity[] {
  const tables = [...seenVersions(ledger, product, region).values()].reverse().map(({ table }) => table);
  // A store that cannot be written did not keep the answer of just now.
  const now = live.rows.map((row) => ({ ...live, rows: [row] }));
  const builds = [live, ...tables, ...now].flatMap((table) => {
    const row = rowOfRegion(table, ['Region'], region)?.row;
    return row === undefined ? [] : identityOfRow({ product, region }, row, cdns, note);
  });
  return firstOfEach(builds);
}

function firstOfEach<Build extends BuildIdentity>(builds: readonly Build[]): Build[] {
  return [...groupBy(builds, ({ buildConfig }) => buildConfig).values()].flatMap(([first]) => first ?? []);
}

/** The build configs that a CDN config names, the newest first. */
interface BuildsOfConfig {
  cdnConfig: string;
  builds: readonly string[];
}

/** Nothing says in which order a CDN config has its builds; its own, at the end, tells that the newest stand there. */
function newestFirst(builds: readonly string[], { buildConfig }: BuildIdentity): readonly string[] {
  return builds.at(-1) === buildConfig ? [...builds].reverse() : builds;
}

/** Builds with those between them that CDN configs alone name, and those behind them that only the ledger knows. */
function withNamed(
  context: ResolveContext,
  builds: readonly BuildIdentity[],
  lists: readonly BuildsOfConfig[],
): ResolvedBuild[] {
  const [live] = builds;
  if (live === undefined) return [];
  // Hosts come and go: those of today have what they had.
  const today = (row: BuildIdentity): BuildIdentity =>
    row.cdnPath === live.cdnPath ? { ...row, hosts: live.hosts } : row;
  const rows = new Map(context.ledger.builds(live.product).map((row) => [row.buildConfig, today(row)]));
  /** By the build that stands before them. */
  const between = new Map<string, ResolvedBuild[]>(builds.map(({ buildConfig }) => [buildConfig, []]));
  const listed = new Set(between.keys());
  for (const { cdnConfig, builds: configs } of lists) {
    let place = between.get(live.buildConfig);
    for (const buildConfig of configs) {
      place = between.get(buildConfig) ?? place;
      if (listed.has(buildConfig)) continue;
      listed.add(buildConfig);
      place?.push(rows.get(buildConfig) ?? unlisted(context, { ...live, buildConfig, cdnConfig }));
    }
  }
  const rest = [...rows.values()].filter(({ buildConfig }) => !listed.has(buildConfig));
  rest.sort((a, b) => Number(b.buildId ?? 0) - Number(a.buildId ?? 0));
  return [...builds.flatMap((build) => [build, ...(between.get(build.buildConfig) ?? [])]), ...rest];
}

function unlisted(context: ResolveContext, identity: BuildIdentity): ResolvedBuild {
  const own = { ...identity, name: identity.buildConfig, buildId: null, productConfig: null, keyRing: null };
  return { ...own, cdnConfigs: cdnConfigsFor(context, own) };
}
