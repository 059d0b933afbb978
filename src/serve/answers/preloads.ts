import { type Bpsv, cell } from '../../formats/services/bpsv.ts';
import { isComplete } from '../../keep/gc/going-builds.ts';
import type { Ledger } from '../../store/ledger/ledger.ts';
import { newestTable } from './newest-table.ts';

/**
 * The builds to come (`bgdl`) that the version service named last, of those that are held whole and not live yet.
 * @param options.live build configs of the live builds
 * @param options.mayLack true where what lacks is fetched
 * @returns undefined for none
 */
export function preloads(
  ledger: Ledger,
  product: string,
  { live, mayLack }: { live: readonly string[]; mayLack: boolean },
): Bpsv | undefined {
  const table = newestTable(ledger, product, 'bgdl');
  if (table === undefined) return undefined;
  const offered = ledger.builds(product).filter((row) => mayLack || isComplete(row));
  const configs = new Set(offered.map(({ buildConfig }) => buildConfig).filter((config) => !live.includes(config)));
  const rows = table.rows.filter((row) => configs.has(cell(row, 'BuildConfig')?.toLowerCase() ?? ''));
  return rows.length === 0 ? undefined : { columns: table.columns, seqn: table.seqn, rows };
}
