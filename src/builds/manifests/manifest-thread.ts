import type { ManifestKeys } from '../../formats/configs/build-config.ts';
import { secondThread, ThreadPool, type ThreadUse } from '../../threads/thread-pool.ts';
import type { EntryPlace } from '../objects.ts';
import type { ManifestFolders } from './decode-held.ts';

/** A manifest that is held, and where its encoded bytes lie. Plain data, for it travels. */
export interface ManifestTask {
  held: { file: string; offset: number };
  entry: EntryPlace;
  manifest: ManifestKeys;
  folders: ManifestFolders;
}

/** To start a thread takes as long as to decode this many bytes. */
const smallBytes = 16 << 20;

/**
 * Decodes a manifest in a thread of its own, which knows no keys, for whoever has something else to do meanwhile.
 * @returns false where it was not done: it is small, there is to be no thread, or something is wrong, which whoever does it here is told
 */
export async function decodeInThread(
  task: ManifestTask,
  { signal, ...use }: ThreadUse & { signal?: AbortSignal | undefined },
): Promise<boolean> {
  const url = task.entry.size < smallBytes ? undefined : secondThread('manifest-worker', use, import.meta.url);
  if (url === undefined) return false;
  const unpack = (results: undefined[]): undefined[] => results;
  const program = { url, setup: undefined, unpack };
  const pool = new ThreadPool<undefined, undefined, ManifestTask, undefined[], undefined>(program, 1);
  try {
    await pool.run(undefined, [[task]].values(), { signal });
    return true;
  } catch {
    return false;
  } finally {
    await pool.end();
  }
}
