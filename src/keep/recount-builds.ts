import { isOurTrouble } from '../core/errors.ts';
import type { Selection } from '../fetch/plan/selection.ts';
import type { Ledger } from '../store/ledger/ledger.ts';
import type { BuildRow } from '../store/ledger/rows.ts';
import { planSync } from '../sync/plan-sync.ts';
import type { BuildOpener } from './build-opener.ts';
import { type Damage, type FetchedDamage, needsFetch } from './damage.ts';

/**
 * Counts again what is held of the builds that damaged objects may belong to, so that nobody is told that they are complete.
 * Nothing is fetched.
 */
export async function recountBuilds(ledger: Ledger, open: BuildOpener, damages: readonly Damage[]): Promise<void> {
  const fetched = damages.filter(needsFetch);
  const paths = new Set(fetched.map(({ object }) => object.name.cdnPath));
  for (const row of ledger.builds()) {
    if (row.selection !== null && paths.has(row.cdnPath)) await recount(open, row, row.selection, { ledger, fetched });
  }
}

async function recount(
  open: BuildOpener,
  row: BuildRow,
  selection: string,
  { ledger, fetched }: { ledger: Ledger; fetched: readonly FetchedDamage[] },
): Promise<void> {
  try {
    const { build, fetcher, close } = await open(row, { offline: true });
    try {
      const { wanted, held } = (await planSync(fetcher, build, JSON.parse(selection) as Selection)).plan;
      ledger.setProgress(row.product, row.buildConfig, { selection, wanted, held });
    } finally {
      await close();
    }
  } catch (error) {
    if (isOurTrouble(error)) throw error;
    const { wanted } = row;
    ledger.setProgress(row.product, row.buildConfig, { selection, wanted, held: lessDamage(row, fetched) });
  }
}

/** For a build that cannot be opened, which may be because of what is damaged: too little is better than too much. */
function lessDamage({ cdnPath, wanted, held }: BuildRow, damages: readonly FetchedDamage[]): BuildRow['held'] {
  const own = damages.filter(({ object }) => object.name.cdnPath === cdnPath);
  const bytes = own.reduce((sum, damage) => sum + (damage.kind === 'entry' ? damage.entry : damage.object).size, 0);
  return {
    entries: Math.max(0, Math.min(held.entries, wanted.entries) - own.length),
    bytes: Math.max(0, Math.min(held.bytes, wanted.bytes) - bytes),
  };
}
