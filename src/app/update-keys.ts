import type { WorkOptions } from '../core/progress.ts';
import { throttled } from '../core/progress.ts';
import type { KeyUpdate } from '../fetch/lists/update-keys.ts';
import type { Session } from './session/session.ts';

export type { KeyUpdate } from '../fetch/lists/update-keys.ts';

/** Where the list is, and how it is taken. */
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
  const { listUrl } = await import('../fetch/lists/list-url.ts');
  const { updateKeyList } = await import('../fetch/lists/update-keys.ts');
  const { settings, offline } = session.options;
  const url = listUrl(options.url ?? settings.keys.url, { what: 'keys', offline });
  const store = await session.store({ create: true });
  const { replace = false, signal } = options;
  const onProgress = throttled(options.onProgress);
  return updateKeyList(store, await session.http(), url, {
    replace,
    signal,
    attempts: settings.network.attemptsPerHost,
    onProgress: (done, total) => onProgress({ type: 'bytes', phase: 'keys', done, total }),
  });
}
