import { isSafeCdnPath } from '../../store/layout.ts';
import type { Store } from '../../store/store.ts';

/** An object as it is offered. */
export interface FoundObject {
  /** As the ledger has it. */
  path: string;
  /** Bytes of the whole object, whatever is held of it. */
  size: number;
  isWhole: boolean;
}

/**
 * The object that a path below the CDN names; undefined when nothing of it is held, or nothing that is held tells its size: the file of one that is
 * held in part does not.
 * @param looseSize the size of a loose object that is held in part, as the index of those has it
 */
export async function findObject(
  { ledger, files }: Store,
  path: string,
  looseSize: (path: string) => Promise<number | undefined>,
): Promise<FoundObject | undefined> {
  if (!isSafeCdnPath(path)) return undefined;
  const reach = ledger.served.reach(path, 0);
  if (reach === undefined) return undefined;
  if (reach.wholeSize !== undefined) return { path, size: reach.wholeSize, isWhole: true };
  const size = files.archiveEnd(path) ?? (await looseSize(path));
  return size === undefined ? undefined : { path, size, isWhole: false };
}
