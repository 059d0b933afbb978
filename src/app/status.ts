import type { Amount } from '../store/ledger/rows.ts';
import type { Session } from './session/session.ts';

export { isHeldWhole } from '../store/ledger/rows.ts';

/** The contents of a store, as `status --json` prints them. */
export interface StatusReport {
  store: string;
  builds: StatusBuild[];
  /** Verified bytes that the store holds, of all builds. */
  bytes: number;
}

/** A build that was synced, and what is held of it. */
export interface StatusBuild {
  product: string;
  name: string;
  buildConfig: string;
  wanted: Amount;
  held: Amount;
  /** True for a build that is kept, whatever the rules say. */
  pinned: boolean;
}

/** Reads what the ledger says of the builds that were synced. @throws E_NOT_FOUND when there is no store */
export async function readStatus(session: Session, product?: string): Promise<StatusReport> {
  const { ledger } = await session.store({ create: false });
  const builds = ledger
    .builds(product)
    .filter(({ selection }) => selection !== null)
    .map(({ product, name, buildConfig, wanted, held }) => {
      return { product, name, buildConfig, wanted, held, pinned: ledger.keeping.isPinned({ product, buildConfig }) };
    });
  return { store: session.storeFolder, builds, bytes: ledger.heldBytes() };
}
