import { findRows } from './session/known-rows.ts';
import type { Session } from './session/session.ts';

/** A build that has a pin, or had one, as `pin --json` prints it. */
export interface PinnedBuild {
  product: string;
  name: string;
  buildConfig: string;
  pinned: boolean;
}

/**
 * Pins builds, so that they are kept whatever the rules of `gc` say, or takes the pins off.
 * @param names `PRODUCT@BUILD`, or `PRODUCT` for the live one
 * @throws E_NOT_FOUND when there is no store, or for a build that it does not know
 */
export async function pin(
  session: Session,
  names: readonly string[],
  { pinned }: { pinned: boolean },
): Promise<PinnedBuild[]> {
  const rows = await findRows(session, names, { demandBuild: !pinned });
  const { ledger } = await session.store({ create: false });
  for (const row of rows) {
    if (pinned) ledger.keeping.pin(row);
    else ledger.keeping.unpin(row);
  }
  return rows.map(({ product, name, buildConfig }) => ({ product, name, buildConfig, pinned }));
}
