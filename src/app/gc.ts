import type { WorkOptions } from '../core/progress.ts';
import type { GcReport } from '../keep/gc/collect-garbage.ts';
import { collect } from './session/collect.ts';
import type { Session } from './session/session.ts';

export type { GcReport } from '../keep/gc/collect-garbage.ts';

/** The rules by which builds go, and whether anything is done. */
export interface GcOptions extends WorkOptions {
  /** The newest complete builds of each product that are kept. */
  keep?: number | undefined;
  /** Milliseconds: builds that were first seen earlier go. */
  olderMs?: number | undefined;
  /** Bytes that the store may hold: the oldest builds go until it does. */
  maxBytes?: number | undefined;
  /** Only plan. */
  dryRun?: boolean | undefined;
}

/**
 * Gives back what no build of the store wants; builds that the rules let go are forgotten first. Without rules no build goes. Pinned builds are kept
 * whatever the rules say, and so is the newest complete one of each product.
 * @throws E_NOT_FOUND when there is no store, E_STORE_DAMAGED when its ledger does not tell rightly what is to be kept, E_ABORTED, E_STORE…
 */
export async function gc(session: Session, options: GcOptions = {}): Promise<GcReport> {
  const { keep, olderMs, maxBytes } = options;
  return collect(session, { ...options, rules: { keep, olderMs, maxBytes } });
}
