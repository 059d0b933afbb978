import { join } from 'node:path';
import type { Validators } from '../../cdn/transport/fetch-document.ts';
import type { HttpGetter } from '../../cdn/transport/http.ts';
import { redactUrl } from '../../cdn/transport/http-head.ts';
import { concatBytes } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';
import { makeFolderDurable } from '../../files/durable.ts';
import { decodeKeyList, type TactKey } from '../../formats/configs/key-list.ts';
import type { KeyRow } from '../../store/ledger/rows.ts';
import { lockStore } from '../../store/ledger/sqlite.ts';
import type { Store } from '../../store/store.ts';
import { fetchList, type ListOptions } from './fetch-list.ts';

/** A key that a list has with another value than the store. Values are cut short. */
interface KeyConflict {
  name: string;
  held: string;
  offered: string;
  /** The list that the held one is from. */
  source: string;
}

/** The outcome of an update of keys. */
export interface KeyUpdate {
  url: string;
  /** False when the server said that the list is still the one that was read last. */
  modified: boolean;
  /** Keys of the list, each name once. */
  read: number;
  added: number;
  /** Known keys whose further fields changed, or with `replace` their value. */
  changed: number;
  unchanged: number;
  /** Keys that the store has with another value; it keeps its own, unless `replace`. */
  conflicts: KeyConflict[];
}

/** The version of a list that the ledger remembers. */
interface KnownList extends Validators {
  keys: number;
}

const maxSize = 64 * 1024 * 1024;

/**
 * Reads a list of keys from a URL, unless it is still what it was, and takes the keys that are new into the store.
 * @param options.replace take the list's value where the store has another
 * @throws E_FORMAT when the answer is no key list, E_NETWORK…, E_ABORTED, E_STORE_LOCKED
 */
export async function updateKeyList(
  store: Store,
  http: HttpGetter,
  url: string,
  options: ListOptions & { replace: boolean },
): Promise<KeyUpdate> {
  const { layout, ledger } = store;
  makeFolderDurable(layout.temporary);
  const release = lockStore(join(layout.temporary, 'keys.lock'), 'updating the keys of this store');
  try {
    const { replace } = options;
    const source = redactUrl(url);
    const setting = `keys:${source}`;
    const last = JSON.parse(ledger.setting(setting) ?? 'null') as KnownList | null;
    // Whoever wants to replace keys wants to see all of the list again.
    const known: Validators = replace || last === null ? {} : last;
    const take = (pieces: AsyncIterable<Uint8Array>): Promise<TactKey[]> => readKeyList(pieces, source);
    const { taken, validators } = await fetchList(store, http, { ...options, url, name: 'keys', maxSize, known, take });
    if (taken === undefined) {
      const keys = last?.keys ?? 0;
      return { url: source, modified: false, read: keys, added: 0, changed: 0, unchanged: keys, conflicts: [] };
    }
    const { rows, ...result } = compareKeys(ledger.keys(), taken, { source, replace });
    // A list with conflicts is read again the next time: they are told as long as they are there.
    const now: KnownList | null = result.conflicts.length > 0 ? null : { ...validators, keys: result.read };
    ledger.transaction(() => {
      ledger.addKeys(rows);
      ledger.setSetting(setting, JSON.stringify(now));
    });
    return { url: source, modified: true, ...result };
  } finally {
    release();
  }
}

async function readKeyList(pieces: AsyncIterable<Uint8Array>, url: string): Promise<TactKey[]> {
  const list: Uint8Array[] = [];
  for await (const piece of pieces) list.push(piece);
  try {
    const keys = decodeKeyList(concatBytes(list));
    if (keys.length > 0) return keys;
  } catch (error) {
    throw noList(url, error);
  }
  throw noList(url);
}

function noList(url: string, cause?: unknown): PakratError {
  return new PakratError('E_FORMAT', `${url} is no list of keys`, {
    cause,
    hint: 'A list has "NAME KEY" a line, in hex. Nothing was taken.',
    data: { url },
  });
}

/** Compares a list with the keys that are held: gives the rows to write, and the counts. */
function compareKeys(
  held: readonly KeyRow[],
  keys: readonly TactKey[],
  { source, replace }: { source: string; replace: boolean },
): Omit<KeyUpdate, 'url' | 'modified'> & { rows: KeyRow[] } {
  const before = new Map(held.map((row) => [row.name, row]));
  const after = new Map<string, KeyRow>();
  const conflicts: KeyConflict[] = [];
  for (const { name, key, extra = [] } of keys) {
    const known = after.get(name) ?? before.get(name);
    const row: KeyRow = { name, key, extra: extra.join(' ') || (known?.extra ?? ''), source };
    // A list that contradicts itself is no reason to replace anything.
    const contradicts = known !== undefined && known.key !== key;
    if (contradicts && (after.has(name) || !replace)) conflicts.push(conflictOf(known, key));
    else after.set(name, row);
    if (contradicts && !after.has(name)) after.set(name, known);
  }
  const result = { read: after.size, added: 0, changed: 0, unchanged: 0, conflicts, rows: [] as KeyRow[] };
  for (const row of after.values()) {
    const known = before.get(row.name);
    const isSame = known !== undefined && known.key === row.key && known.extra === row.extra;
    if (known === undefined) result.added += 1;
    else if (isSame) result.unchanged += 1;
    else result.changed += 1;
    if (!isSame) result.rows.push(row);
  }
  return result;
}

function conflictOf({ name, key, source }: KeyRow, offered: string): KeyConflict {
  return { name, held: `${key.slice(0, 4)}…`, offered: `${offered.slice(0, 4)}…`, source };
}
