import { type ProductAnswer, productAnswer } from '../builds/resolve/product-answer.ts';
import { codeOf, valueUnless } from '../core/errors.ts';
import { nameMatcher } from '../core/glob.ts';
import { compareNames } from '../core/names/name-order.ts';
import type { WorkOptions } from '../core/progress.ts';
import type { Amount, BuildRow } from '../store/ledger/rows.ts';
import type { Session } from './session/session.ts';

/** A product, as `products --json` prints it. */
export interface ProductRow {
  product: string;
  /** Sequence number of its versions; null where the service has none, as over channels, and for a product that only the store knows. */
  seqn: number | null;
  /** False for a product of the store that the service does not list any more; null where nobody could be asked, now or before. */
  listed: boolean | null;
  /** The builds of it that were synced, the last one first. */
  builds: { name: string; buildConfig: string; wanted: Amount; held: Amount }[];
}

/** The products with the service that listed them. */
export interface ProductsReport {
  products: ProductRow[];
  /** Undefined where there is no network and none was asked before: then the products are those that the store holds. */
  service: string | undefined;
  /** Milliseconds since 1970 when it was said, for an answer out of the ledger; undefined for one of just now. */
  time: number | undefined;
}

/** Which products are meant. */
export interface ProductsOptions extends WorkOptions {
  /** Globs of which a product code must match one; none for all. */
  globs?: readonly string[] | undefined;
}

/**
 * Lists the products that the version services offer, with what the store holds of them, by their codes; without a network those that were
 * offered when it was last asked, else those of the store.
 * @throws as productAnswer, E_USAGE for a glob that cannot be used
 */
export async function listProducts(
  session: Session,
  { globs = [], ...options }: ProductsOptions = {},
): Promise<ProductsReport> {
  const matches = globs.length === 0 ? () => true : nameMatcher(globs);
  const context = await session.resolveContext({ ...options, create: true });
  const asked = productAnswer(context, '', 'summary');
  const answer: ProductAnswer | undefined = await valueUnless((error) => codeOf(error) === 'E_OFFLINE', asked);
  const products = new Map<string, ProductRow>();
  for (const { Product: product = '', Seqn, Flags = '' } of answer?.bpsv.rows ?? []) {
    if (product === '' || !matches(product)) continue;
    const row = products.get(product) ?? { product, seqn: null, listed: true, builds: [] };
    products.set(product, row);
    if (Flags === '' && /^\d+$/.test(Seqn ?? '')) row.seqn = Number(Seqn);
  }
  for (const build of context.ledger.builds().filter(({ selection }) => selection !== null)) {
    if (!matches(build.product)) continue;
    const row = products.get(build.product) ?? {
      product: build.product,
      seqn: null,
      listed: answer === undefined ? null : false,
      builds: [],
    };
    products.set(build.product, row);
    row.builds.push(heldOf(build));
  }
  const sorted = [...products.values()].sort((a, b) => compareNames(a.product, b.product));
  return { products: sorted, service: answer?.service, time: answer?.time };
}

function heldOf({ name, buildConfig, wanted, held }: BuildRow): ProductRow['builds'][number] {
  return { name, buildConfig, wanted, held };
}
