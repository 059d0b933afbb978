import type { ProductReport } from '../../app/versions.ts';

/** Who gave an answer of a version service, and when, for one out of the ledger. */
export function saidBy({ service, time }: Pick<ProductReport, 'service' | 'time'>): string {
  const when = time === undefined ? '' : `, as it was at ${new Date(time).toISOString()}`;
  return `from ${service.replace('/{product}/{endpoint}', '')}${when}`;
}
