import { type AgedBuild, buildsByAge } from '../../builds/resolve/build-order.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import { type BuildRow, isHeldWhole, keyOf } from '../../store/ledger/rows.ts';

/** The rules by which builds go. Without any nothing goes but what no build names. */
export interface KeepRules {
  /** The newest complete builds of each product that are kept, and whatever is newer than they are. */
  keep?: number | undefined;
  /** Milliseconds: builds that were first seen earlier go. */
  olderMs?: number | undefined;
  /** Bytes that the store may hold: the oldest builds go until it does. */
  maxBytes?: number | undefined;
  /** The products that the rules are for. Default: all. */
  products?: readonly string[] | undefined;
}

/** The builds of a ledger, by what the rules say of them. */
export interface SortedBuilds {
  /** Builds that no rule lets go. */
  kept: BuildRow[];
  /** Builds that may go for their size, the newest first. */
  optional: BuildRow[];
  going: BuildRow[];
}

/**
 * Sorts the builds of a ledger by the rules. Pinned ones are kept whatever the rules say, and so are the newest complete build of each product and
 * those that are live. Only complete builds count: one that is not complete pushes none out, and one that is newer than those that count is kept.
 * @param forget builds that go, whatever the rules say
 */
export function sortBuilds(ledger: Ledger, rules: KeepRules, forget: readonly BuildRow[] = []): SortedBuilds {
  const { keep, olderMs, maxBytes, products: ruled } = rules;
  const pins = new Set(ledger.keeping.pins().map(keyOf));
  const forgotten = new Set(forget.map(keyOf));
  const products = new Set(ledger.builds().map(({ product }) => product));
  const sorted: SortedBuilds = { kept: [], optional: [], going: [] };
  const optional: AgedBuild[] = [];
  const now = Date.now();
  for (const product of products) {
    let complete = 0;
    for (const build of buildsByAge(ledger, product)) {
      const { row, age, live } = build;
      const isPast = complete >= Math.max(keep ?? 0, 1);
      if (isComplete(row) && !forgotten.has(keyOf(row))) complete += 1;
      if (forgotten.has(keyOf(row))) sorted.going.push(row);
      else if (pins.has(keyOf(row)) || live || !isPast || ruled?.includes(product) === false) sorted.kept.push(row);
      else if ((keep !== undefined || olderMs !== undefined) && now - age.firstSeen > (olderMs ?? -1))
        sorted.going.push(row);
      else if (maxBytes !== undefined) optional.push(build);
      else sorted.kept.push(row);
    }
  }
  sorted.optional = optional.sort((a, b) => b.age.firstSeen - a.age.firstSeen).map(({ row }) => row);
  return sorted;
}

/** True for a build of which all that its last sync wanted is held. */
export function isComplete(row: BuildRow): boolean {
  return row.selection !== null && isHeldWhole(row);
}
