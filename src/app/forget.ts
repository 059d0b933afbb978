import { PakratError } from '../core/errors.ts';
import type { WorkOptions } from '../core/progress.ts';
import type { GcReport } from '../keep/gc/collect-garbage.ts';
import type { BuildRow } from '../store/ledger/rows.ts';
import { collect } from './session/collect.ts';
import { findRows } from './session/known-rows.ts';
import type { Session } from './session/session.ts';

/**
 * Forgets builds, and gives back what only they wanted. Their history stays, and they can be synced again while a host has them.
 * @param names `PRODUCT@BUILD`
 * @throws E_NOT_FOUND for a build that the store does not know, E_USAGE for one that is pinned, else as `gc`
 */
export async function forget(
  session: Session,
  names: readonly string[],
  options: WorkOptions & { dryRun?: boolean | undefined } = {},
): Promise<GcReport> {
  return collect(session, { ...options, rules: {}, forget: () => unpinnedRows(session, names) });
}

async function unpinnedRows(session: Session, names: readonly string[]): Promise<BuildRow[]> {
  const rows = await findRows(session, names, { demandBuild: true });
  const { ledger } = await session.store({ create: false });
  const pinned = rows.find((row) => ledger.keeping.isPinned(row));
  if (pinned === undefined) return rows;
  const name = `${pinned.product}@${pinned.name}`;
  throw new PakratError('E_USAGE', `${name} is pinned`, {
    hint: `Take the pin off first: \`pakrat unpin ${name}\`.`,
  });
}
