import { findCalled } from '../../builds/resolve/build-spec.ts';
import { seenVersions } from '../../builds/resolve/seen-builds.ts';
import { identityOfRow } from '../../builds/resolve/table-identity.ts';
import { heldBuildName } from '../../builds/resolve/unlisted-build.ts';
import { PakratError, resultUnless } from '../../core/errors.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';
import type { Store } from '../../store/store.ts';
import { newestTable } from './newest-table.ts';

/**
 * The builds that a person wants to be live, by product.
 * @param texts `PRODUCT=BUILD` each; a build is called as everywhere: by version name, build id, build-name or the beginning of its build config
 * @throws E_USAGE for a text of another form, a product that comes twice, and a build that is not in the history of the store
 */
export function chosenBuilds(store: Store, texts: readonly string[]): Map<string, BuildIdentity> {
  const chosen = new Map<string, BuildIdentity>();
  for (const text of texts) {
    const [, product, build] = /^([\w.-]+)=([\w.-]+)$/.exec(text) ?? [];
    if (product === undefined || build === undefined) {
      throw new PakratError('E_USAGE', `${JSON.stringify(text)} names no build of a product`, {
        hint: 'Write PRODUCT=BUILD, such as wow_classic_era=1.15.7.61582.',
      });
    }
    if (chosen.has(product)) throw new PakratError('E_USAGE', `${product} can have one live build, and two are named`);
    chosen.set(product, findKnown(store, product, build));
  }
  return chosen;
}

function findKnown(store: Store, product: string, build: string): BuildIdentity {
  const known = knownBuilds(store, product);
  const found =
    findCalled(build, known, (row) => row) ??
    findCalled(build, known, (row) => ({ ...row, buildName: heldBuildName(store, row) }));
  if (found !== undefined) return found;
  const names = known.map(({ name }) => name);
  const products = [...new Set(store.ledger.builds().map((row) => row.product))].sort();
  const hint =
    names.length > 0
      ? `Known builds: ${names.slice(0, 8).join(', ')}. \`pakrat history ${product}\` lists them all.`
      : `Products of this store: ${products.join(', ') || 'none'}.`;
  throw new PakratError('E_USAGE', `the store knows no build ${build} of ${product}`, {
    hint,
    data: { product, build, known: names },
  });
}

/** Builds of the ledger, then those that answers alone named: what these need stands in the newest answer of `cdns`. */
function knownBuilds({ ledger }: Store, product: string): BuildIdentity[] {
  const builds: BuildIdentity[] = ledger.builds(product);
  const cdns = newestTable(ledger, product, 'cdns');
  if (cdns === undefined) return builds;
  const configs = new Set(builds.map(({ buildConfig }) => buildConfig));
  const named = [...seenVersions(ledger, product).values()].flatMap(
    ({ buildConfig, table, regions: [region = ''] }) => {
      const [row] = table.rows;
      if (row === undefined || configs.has(buildConfig)) return [];
      const identity = (): BuildIdentity => identityOfRow({ product, region }, row, cdns, () => {});
      return resultUnless(() => true, identity) ?? [];
    },
  );
  return [...builds, ...named];
}
