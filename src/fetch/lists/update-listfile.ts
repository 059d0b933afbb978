import {
  type ListfileChange,
  type ListfileOptions,
  lockListfile,
  openWhole,
  replaceListfile,
} from '../../builds/listfile/listfile-import.ts';
import { listfileVersion } from '../../builds/listfile/listfile-paths.ts';
import type { Validators } from '../../cdn/transport/fetch-document.ts';
import type { HttpGetter } from '../../cdn/transport/http.ts';
import { redactUrl } from '../../cdn/transport/http-head.ts';
import type { Store } from '../../store/store.ts';
import { fetchList, type ListOptions } from './fetch-list.ts';

const maxSize = 4 * 1024 ** 3;
/** The setting that says which list the names in use came from. */
const knownSetting = 'listfile';

/** The outcome of an update of names. */
export interface ListfileUpdate extends ListfileChange {
  url: string;
  /** False when the server said that the list is still the one that was read last. */
  modified: boolean;
  /** Bytes that were fetched. */
  bytes: number;
}

/** The version of a list that the ledger remembers, and the counts of its last update. */
interface KnownList extends Validators {
  url: string;
  rows?: number;
  ids?: number;
}

/**
 * Fetches a list of names, unless it is still what it was, and makes it the new version of what came from there.
 * Names change only when all of the list is there and good.
 * @throws E_NETWORK…, E_ABORTED, E_FORMAT for what is no list, and as replaceListfile
 */
export async function updateListfile(
  store: Store,
  http: HttpGetter,
  url: string,
  { threads, workerUrl, onStep, ...options }: ListOptions & ListfileOptions,
): Promise<ListfileUpdate> {
  const { layout, ledger } = store;
  const release = lockListfile(layout);
  try {
    const shown = redactUrl(url);
    const known = await knownList(store, shown);
    const take = (pieces: AsyncIterable<Uint8Array>): Promise<ListfileChange> =>
      replaceListfile(layout, pieces, { url: shown, signal: options.signal, threads, workerUrl, onStep });
    const list = { ...options, url, name: 'listfile' as const, maxSize, known, take };
    const { bytes, taken, validators } = await fetchList(store, http, list);
    if (taken === undefined) {
      const { rows = 0, ids = 0 } = known;
      return { url: shown, modified: false, bytes, rows, ids, added: 0, changed: 0, removed: 0 };
    }
    const { rows, ids } = taken;
    ledger.setSetting(knownSetting, JSON.stringify({ url: shown, ...validators, rows, ids } satisfies KnownList));
    return { url: shown, modified: true, bytes, ...taken };
  } finally {
    release();
  }
}

/** The version of the list whose names are in use; nothing where they are damaged. */
async function knownList({ layout, ledger }: Store, url: string): Promise<Partial<KnownList>> {
  const known = JSON.parse(ledger.setting(knownSetting) ?? 'null') as KnownList | null;
  if (known?.url !== url || listfileVersion(layout)?.url !== url) return {};
  const list = await openWhole(layout);
  list?.close();
  return list === undefined ? {} : known;
}
