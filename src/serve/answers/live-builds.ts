import type { BuildRow } from '../../store/ledger/rows.ts';
import type { Store } from '../../store/store.ts';

/** The build of a product that the server calls live: the last that was synced, else the last that is known. */
export function liveBuild({ ledger }: Store, product: string): BuildRow | undefined {
  const builds = ledger.builds(product);
  return builds.findLast(({ selection }) => selection !== null) ?? builds.at(-1);
}
