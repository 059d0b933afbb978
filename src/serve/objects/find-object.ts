import { isSafeCdnPath } from '../../store/layout.ts';
import type { Store } from '../../store/store.ts';

/** An object of which something is held. */
export interface FoundObject {
  /** As the ledger has it. */
  path: string;
  /** Bytes of the whole object, whatever is held of it. */
  size: number;
}

/**
 * The object that a path below the CDN names; undefined when nothing of it is held, or nobody knows its size: the file of one that is held in part
 * does not tell it.
 */
export function findObject({ ledger, files }: Store, path: string): FoundObject | undefined {
  if (!isSafeCdnPath(path)) return undefined;
  const size = ledger.completeSize(path) ?? files.archiveEnd(path);
  return size === undefined ? undefined : { path, size };
}
