import { join } from 'node:path';
import type { KeyRing } from '../../formats/blte/keys.ts';
import { readBlte } from '../../formats/blte/read.ts';
import type { ManifestKeys } from '../../formats/configs/build-config.ts';
import type { LookupFolders } from '../../store/layout.ts';
import { type EntryPlace, type HeldObjects, openRanges } from '../objects.ts';
import { writeManifest } from './write-manifest.ts';

/** The folder of derived manifests, and the one for their temporary names. */
export type ManifestFolders = Pick<LookupFolders, 'manifests' | 'temporary'>;

/** Decodes a manifest that is held to its derived file. @throws E_INTEGRITY when it is another, as `writeManifest` and reading do */
export async function decodeHeld(
  { objects, folders: { manifests, temporary } }: { objects: HeldObjects; folders: ManifestFolders },
  entry: EntryPlace,
  { ckey, size }: ManifestKeys,
  keys: KeyRing,
): Promise<void> {
  const { read, close } = openRanges(objects, entry, true);
  const known = { keys, ekey: entry.ekey, decodedSize: size, isReused: true };
  try {
    await writeManifest(readBlte(read, entry.size, known), { path: join(manifests, ckey), ckey, temporary });
  } finally {
    close();
  }
}
