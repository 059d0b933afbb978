import { type ProductAnswer, productAnswer } from '../builds/resolve/product-answer.ts';
import type { WorkOptions } from '../core/progress.ts';
import type { BpsvColumn } from '../formats/services/bpsv.ts';
import type { Session } from './session/session.ts';

/** A table of a version service, as `versions --json` and `cdns --json` print it. */
export interface ProductTable {
  product: string;
  /** Sequence number; null for an answer that has none. */
  seqn: number | null;
  /** Every row, keyed by column name. */
  rows: readonly Record<string, string>[];
}

/** A table with the service that gave it. */
export interface ProductReport {
  table: ProductTable;
  columns: readonly BpsvColumn[];
  service: string;
  /** Milliseconds since 1970 when it was said, for an answer out of the ledger; undefined for one of just now. */
  time: number | undefined;
}

/**
 * Asks the version services about a product; the answer is kept in the store. Offline, gives the newest answer that the store has.
 * @throws as productAnswer
 */
export async function askVersions(
  session: Session,
  product: string,
  endpoint: 'versions' | 'cdns',
  options: WorkOptions = {},
): Promise<ProductReport> {
  const context = await session.resolveContext({ ...options, create: true });
  const { bpsv, seqn, service, time }: ProductAnswer = await productAnswer(context, product, endpoint);
  return { table: { product, seqn: seqn ?? null, rows: bpsv.rows }, columns: bpsv.columns, service, time };
}
