import { PakratError } from '../../core/errors.ts';
import { type ArchiveIndex, decodeArchiveIndex } from '../../formats/indices/archive-index.ts';
import { type ObjectName, objectPath } from '../../store/layout.ts';
import type { Store } from '../../store/store.ts';

/**
 * The index of an archive, or of loose objects, that a store holds; all of it checked.
 * @throws E_OFFLINE when it is not held, E_FORMAT… and E_INTEGRITY when it is damaged, E_KEY_MISSING
 */
export function readIndexOf(store: Store, archive: ObjectName): ArchiveIndex {
  const name: ObjectName = { ...archive, suffix: '.index' };
  const bytes = store.readObject(name);
  const path = objectPath(name);
  if (bytes === undefined) throw new PakratError('E_OFFLINE', `${path} is not held`, { data: { path } });
  return decodeArchiveIndex(bytes, name.hash);
}
