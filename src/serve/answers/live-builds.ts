import { buildsByAge } from '../../builds/resolve/build-order.ts';
import { seenVersions } from '../../builds/resolve/seen-builds.ts';
import { groupBy } from '../../core/tables/group-by.ts';
import { cell } from '../../formats/services/bpsv.ts';
import { isComplete } from '../../keep/gc/going-builds.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';
import { newestTable } from './newest-table.ts';

/** A build with the regions in which the server calls it live. */
export interface LiveBuild {
  build: BuildIdentity;
  regions: readonly string[];
}

/** Regions of a product of which no version service ever told. */
const usualRegions = ['us', 'eu', 'kr', 'tw', 'cn'];

/**
 * The builds of a product that the server calls live: the one that was chosen; else the newest that is held whole, and in each region the one
 * that the version services called live there, where that is held whole, too. Where none is held whole, the newest that is known.
 * @param options.chosen the build that a person named for it
 * @param options.mayLack true where what lacks is fetched: then the services alone say what is live
 * @returns none for a product of which no build is known
 */
export function liveBuilds(
  ledger: Ledger,
  product: string,
  { chosen, mayLack }: { chosen: BuildIdentity | undefined; mayLack: boolean },
): LiveBuild[] {
  const { regions, configs } = saidLive(ledger, product);
  if (chosen !== undefined) return [{ build: chosen, regions }];
  const known = buildsByAge(ledger, product).map(({ row }) => row);
  const offered = mayLack ? known : known.filter(isComplete);
  const newest = offered[0] ?? known[0];
  if (newest === undefined) return [];
  const byConfig = new Map(offered.map((row) => [row.buildConfig, row]));
  const rows = regions.map((region) => ({ region, build: byConfig.get(configs.get(region) ?? '') ?? newest }));
  return [...groupBy(rows, ({ build }) => build.buildConfig).values()].flatMap((own) =>
    own.slice(0, 1).map(({ build }) => ({ build, regions: own.map(({ region }) => region) })),
  );
}

/** The regions that answers ever named, those of the newest answer first, and the build config that this has for each. */
function saidLive(ledger: Ledger, product: string): { regions: readonly string[]; configs: Map<string, string> } {
  const table = newestTable(ledger, product, 'versions');
  const configs = new Map<string, string>();
  for (const row of table?.rows ?? []) {
    const region = cell(row, 'Region');
    if (region !== undefined && !configs.has(region))
      configs.set(region, cell(row, 'BuildConfig')?.toLowerCase() ?? '');
  }
  const earlier = [...seenVersions(ledger, product).values()].flatMap((seen) => seen.regions);
  const regions = [...new Set([...configs.keys(), ...earlier])];
  return { regions: regions.length > 0 ? regions : usualRegions, configs };
}
