import { breathe } from '../core/breathe.ts';
import { codeOf, resultUnless } from '../core/errors.ts';
import { isSpoilt } from '../files/durable.ts';
import { walk } from '../files/walk.ts';
import { displaced, oldLayout } from './ledger/schema.ts';
import type { Store } from './store.ts';

/**
 * Brings a store that pakrat 0.1.0 wrote to the places of today, file by file, under the lock of the store; a kill costs nothing, the next one goes on.
 * Does nothing for others, nor while another process holds the lock: files are found and written to in either place.
 * @throws E_STORE…, E_ABORTED
 */
export async function moveOldFiles(store: Store, signal?: AbortSignal): Promise<void> {
  const { ledger, files, writable } = store;
  if (!writable || ledger.setting(oldLayout) === undefined) return;
  const release = resultUnless((error) => codeOf(error) === 'E_STORE_LOCKED', store.lock);
  if (release === undefined) return;
  try {
    for (const path of ledger.incomplete({ fromStart: false })) {
      await breathe(signal);
      files.bring(path);
    }
    ledger.removeSetting(oldLayout);
  } finally {
    release();
  }
}

/** Moves objects that are whole to their places where a kill came between, or a broken disk kept these until now. @throws E_STORE…, E_ABORTED */
export async function settleStore({ ledger, files, layout }: Store, signal?: AbortSignal): Promise<void> {
  for (const path of ledger.incomplete({ fromStart: true })) {
    await breathe(signal);
    files.settle(path);
  }
  if (ledger.setting(displaced) === undefined) return;
  const isDisplaced = (path: string): boolean => files.isDisplaced(path);
  const listed = (): string[] => Array.from(walk(layout.partial, { onUnread() {} }), ({ name }) => name);
  // What lies where a broken disk gives no names waits for another time.
  const paths = resultUnless(isSpoilt, listed)?.filter(isDisplaced);
  if (paths === undefined) return;
  for (const path of paths) {
    await breathe(signal);
    files.settle(path);
  }
  if (!paths.some(isDisplaced)) ledger.removeSetting(displaced);
}
