import type { Amount } from '../store/ledger/rows.ts';
import type { Session } from './session/session.ts';

/** The contents of a store, as `status --json` prints them. */
export interface StatusReport {
  store: string;
  builds: { product: string; name: string; buildConfig: string; wanted: Amount; held: Amount }[];
  /** Verified bytes that the store holds, of all builds. */
  bytes: number;
}

/** Reads what the ledger says of the builds that were synced. @throws E_NOT_FOUND when there is no store */
export async function readStatus(session: Session, product?: string): Promise<StatusReport> {
  const { ledger } = await session.store({ create: false });
  const builds = ledger
    .builds(product)
    .filter(({ selection }) => selection !== null)
    .map(({ product, name, buildConfig, wanted, held }) => ({ product, name, buildConfig, wanted, held }));
  return { store: session.storeFolder, builds, bytes: ledger.heldBytes() };
}
