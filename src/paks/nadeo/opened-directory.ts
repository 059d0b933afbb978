import type { EntryContext } from './entries/entry-reader.ts';
import type { PrivateHeader } from './header/private-header.ts';
import type { KeyCandidate } from './keys/keys.ts';

/** The directory of a pack that could be read, and what reading its files takes. */
export interface OpenedDirectory {
  records: PrivateHeader;
  context: EntryContext;
  /** The key of the files, where one of those given fits. */
  packKey: KeyCandidate | undefined;
  /** False when nothing in the pack shows that this is its key. */
  isKeyProven: boolean;
}
