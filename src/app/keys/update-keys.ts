import { redactUrl } from '../../cdn/transport/http-head.ts';
import type { WorkOptions } from '../../core/progress.ts';
import { listUrl } from '../../fetch/lists/fetch-list.ts';
import { type KeyUpdate, updateKeyList } from '../../fetch/lists/update-keys.ts';
import type { Session } from '../session/session.ts';

export type { KeyUpdate } from '../../fetch/lists/update-keys.ts';

/** The address of the list, and which value of a key counts. */
export interface UpdateKeysOptions extends WorkOptions {
  /** Default: the setting `keys.url`. */
  url?: string | undefined;
  /** Take the value of the list where the store has another. */
  replace?: boolean | undefined;
}

/**
 * Reads a list of keys from a URL, unless it is still what it was, and takes the keys that are new into the store.
 * @throws E_USAGE without a URL or offline, E_FORMAT when the answer is no key list, E_NETWORK…, E_ABORTED
 */
export async function updateKeys(session: Session, options: UpdateKeysOptions = {}): Promise<KeyUpdate> {
  const { settings, offline } = session.options;
  const url = listUrl(options.url ?? settings.keys.url, { what: 'keys', offline });
  options.onProgress?.({ type: 'note', text: `asking ${redactUrl(url)}` });
  const store = await session.store({ create: true });
  const { replace = false, signal } = options;
  return updateKeyList(store, await session.http(), url, {
    replace,
    signal,
    attempts: settings.network.attemptsPerHost,
    onProgress: (done, total) => options.onProgress?.({ type: 'bytes', phase: 'keys', done, total }),
  });
}
