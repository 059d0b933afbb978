import { existsSync } from 'node:fs';
import { fromHex, toHex } from '../core/bytes.ts';
import { storeLayout } from './layout.ts';
import { Ledger } from './ledger/ledger.ts';
import type { KeyRow } from './ledger/rows.ts';

/*
 * Keys of NadeoPaks lie in the ledger beside the keys of builds, under a name that those cannot have: `nadeo:NAME:DIGITS`.
 * Games share names of packs and not their keys, so that a name alone would not do.
 */

const prefix = 'nadeo:';

/** A key of a pack, by the name of the pack. */
export interface NamedKey {
  name: string;
  key: Uint8Array;
}

/** The row for the key of a pack. */
export function packKeyRow({ name, key }: NamedKey, source: string): KeyRow {
  const hex = toHex(key);
  return { name: `${prefix}${name.toLowerCase()}:${hex.slice(0, 8)}`, key: hex, extra: name, source };
}

/** The keys of packs that a store has; none when there is no store. */
export function storedPackKeys(storeFolder: string): NamedKey[] {
  const { ledger: path } = storeLayout(storeFolder);
  if (!existsSync(path)) return [];
  const ledger = new Ledger(path, { readOnly: true });
  try {
    return ledger
      .keys()
      .filter(({ name }) => name.startsWith(prefix))
      .map(({ key, extra }) => ({ name: extra, key: fromHex(key) }));
  } finally {
    ledger.close();
  }
}
