import { breathe } from '../../core/breathe.ts';
import { isOurTrouble, messageOf } from '../../core/errors.ts';
import { type BuildIdentity, keyOf } from '../../store/ledger/rows.ts';
import { planSync } from '../../sync/plan-sync.ts';
import type { BuildOpener } from '../build-opener.ts';
import { selectionOf } from '../damaged-rows.ts';
import type { ImportRun } from './import-run.ts';

/**
 * Counts what is held of builds that an import brought, by what is wanted of each: so they are complete, or are not, as if they had been synced.
 * One that cannot be opened, for something of it lacks, is left as it is, and told.
 * @throws E_ABORTED, E_STORE…
 */
export async function countBuilds(
  { store, settings }: ImportRun,
  opener: BuildOpener,
  builds: readonly BuildIdentity[],
): Promise<void> {
  const { ledger } = store;
  const rows = new Map(ledger.builds().map((row) => [keyOf(row), row]));
  for (const identity of builds) {
    await breathe(settings.signal);
    const { product, buildConfig } = identity;
    const row = rows.get(keyOf(identity));
    const selection = row?.selection ?? ledger.keeping.selections(identity).at(-1);
    const choice = selection === undefined ? undefined : selectionOf({ selection });
    if (row === undefined || selection === undefined || choice === undefined) continue;
    try {
      const { build, fetcher, close } = await opener.open(row, { offline: true });
      try {
        const { plan, placed } = await planSync(fetcher, build, choice);
        placed.giveBack();
        ledger.setProgress(product, buildConfig, { selection, wanted: plan.wanted, held: plan.held });
      } finally {
        await close();
      }
    } catch (error) {
      if (isOurTrouble(error)) throw error;
      settings.onNote?.(`${product}@${row.name} cannot be read, so nobody knows what of it lacks: ${messageOf(error)}`);
    }
  }
}
