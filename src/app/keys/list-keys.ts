import type { Session } from '../session/session.ts';

/** A key that the store has. */
export interface ListedKey {
  /** As key lists print it, in hex. */
  name: string;
  /** In hex; cut short unless all of it was asked for. */
  key: string;
  /** Further fields of the key's line, where there were any. */
  extra?: string;
  source: string;
}

/** Lists the keys of the store. @param options.show the keys in full @throws E_NOT_FOUND when there is no store */
export async function listKeys(session: Session, options: { show?: boolean | undefined } = {}): Promise<ListedKey[]> {
  const { ledger } = await session.store({ create: false });
  return ledger.keys().map(({ name, key, extra, source }) => {
    const shown = options.show === true ? key : `${key.slice(0, 4)}…`;
    return { name, key: shown, source, ...(extra === '' ? {} : { extra }) };
  });
}
