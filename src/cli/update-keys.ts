import { getIfChanged, type Validators } from '../cdn/transport/get-if-changed.ts';
import type { HttpGetter } from '../cdn/transport/http.ts';
import { redactUrl } from '../cdn/transport/http-head.ts';
import { PakratError } from '../core/errors.ts';
import { decodeKeyList, type TactKey } from '../formats/configs/key-list.ts';
import type { KeyRow, Ledger } from '../store/ledger/ledger.ts';
import { openStore } from '../store/store.ts';
import type { GlobalOptions } from './global-options.ts';

/** A key that a list has with another value than the store. Values are cut short. */
export interface KeyConflict {
  name: string;
  held: string;
  offered: string;
  /** Where the held one is from. */
  source: string;
}

/** What an update of keys did. */
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

/** What to update from, and how. */
export interface KeyUpdateRequest {
  /** Undefined: the list of the settings. */
  url: string | undefined;
  /** Take the list's value where the store has another. */
  replace: boolean;
  signal?: AbortSignal | undefined;
}

/** What the ledger remembers of a list. */
interface KnownList extends Validators {
  keys: number;
}

const maxListSize = 64 * 1024 * 1024;
const listMs = 120_000;

/**
 * Reads a list of keys from a URL, unless it is still what it was, and takes the keys that are new into the store.
 * @throws E_USAGE without a URL or with --offline, E_FORMAT when the answer is no key list, E_NETWORK…
 */
export async function updateKeys(options: GlobalOptions, request: KeyUpdateRequest): Promise<KeyUpdate> {
  const url = listUrl(request.url ?? options.settings.keys.url);
  if (options.offline) {
    throw new PakratError('E_USAGE', 'keys update fetches, and --offline forbids that', {
      hint: 'Leave --offline away, or import a file: `pakrat keys import FILE`.',
    });
  }
  const store = openStore(options.store, { create: true });
  try {
    const { HttpClient } = await import('../cdn/transport/http.ts');
    const { connectMs, idleMs } = options.settings.network;
    const http = new HttpClient({ connectMs, idleMs, connections: 1 });
    try {
      return await update(store.ledger, http, { ...request, url });
    } finally {
      await http.close();
    }
  } finally {
    store.close();
  }
}

function listUrl(text: string): string {
  if (text === '') {
    throw new PakratError('E_USAGE', 'no list of keys is set', {
      hint: 'Name one with --url, or set keys.url in the file that PAKRAT_CONFIG names.',
    });
  }
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) {
    throw new PakratError('E_USAGE', `${JSON.stringify(text)} is no http or https URL`, {
      hint: 'A file is read by `pakrat keys import FILE`.',
    });
  }
  return text;
}

async function update(
  ledger: Ledger,
  http: HttpGetter,
  { url, replace, signal }: KeyUpdateRequest & { url: string },
): Promise<KeyUpdate> {
  const shown = redactUrl(url);
  const setting = `keys:${shown}`;
  const last: KnownList | undefined = JSON.parse(ledger.setting(setting) ?? 'null') ?? undefined;
  const answer = await getIfChanged(http, url, {
    ...{ maxSize: maxListSize, timeoutMs: listMs, signal },
    // Whoever wants to replace keys wants to see all of the list again.
    known: replace ? {} : { etag: last?.etag, lastModified: last?.lastModified },
  });
  if (answer === undefined) {
    const keys = last?.keys ?? 0;
    return { url: shown, modified: false, read: keys, added: 0, changed: 0, unchanged: keys, conflicts: [] };
  }
  const keys = decodeList(answer.bytes, shown);
  const { rows, ...result } = compareKeys(ledger.keys(), keys, { source: shown, replace });
  const { etag, lastModified } = answer;
  // A list with conflicts is read again the next time: they are told as long as they are there.
  const known = result.conflicts.length > 0 ? null : { etag, lastModified, keys: result.read };
  ledger.transaction(() => {
    ledger.addKeys(rows);
    ledger.setSetting(setting, JSON.stringify(known));
  });
  return { url: shown, modified: true, ...result };
}

function decodeList(bytes: Uint8Array, url: string): TactKey[] {
  try {
    const keys = decodeKeyList(bytes);
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

/** What a list means for the keys that are held: the rows to write, and the counts. */
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
