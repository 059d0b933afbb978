import { resultUnless } from '../../core/errors.ts';
import type { HostRow } from './rows.ts';

/** Hosts are kept as `cdns` writes them: a fallback says so in its query. */
const fallbackQuery = '?fallback=1';

/** Hosts as the ledger keeps them. */
export function jsonOfHosts(hosts: readonly HostRow[]): string {
  return JSON.stringify(hosts.map(({ base, fallback }) => (fallback ? `${base}${fallbackQuery}` : base)));
}

/** The hosts of a row; none where it is damaged, which `verify` finds. */
export function hostsOfJson(json: string): HostRow[] {
  const list = resultUnless(
    () => true,
    () => JSON.parse(json) as unknown,
  );
  const texts = Array.isArray(list) ? list.filter((text) => typeof text === 'string') : [];
  return texts.map((text) => ({ base: text.replace(/\?.*$/, ''), fallback: text.endsWith(fallbackQuery) }));
}
