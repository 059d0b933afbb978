import { isDamage, isNotFound, PakratError } from '../../core/errors.ts';
import type { KeyRing } from '../../formats/blte/keys.ts';
import type { ManifestKeys } from '../../formats/configs/build-config.ts';
import { objectPath } from '../../store/layout.ts';
import type { EntryPlace, Objects } from '../objects.ts';
import { decodeHeld, type ManifestFolders } from './decode-held.ts';

/** A manifest, and the entry that has it. */
interface PlacedManifest {
  manifest: ManifestKeys;
  entry: EntryPlace;
  isEncoding: boolean;
}

/**
 * Sees to it that a manifest is held, and decodes it to its derived file. What a disk has spoilt or lost of it since it was held is brought again.
 * @throws with `wrong` and `onDisk` in the data where it is damaged and nobody brings it again; else as `Objects.entries` and `decodeHeld` do
 */
export async function bringManifest(
  { objects, folders }: { objects: Objects; folders: ManifestFolders },
  { manifest, entry, isEncoding }: PlacedManifest,
  keys: KeyRing,
): Promise<void> {
  const decode = (): Promise<void> => decodeHeld({ objects, folders }, entry, manifest, keys);
  await objects.entries([entry]);
  try {
    await decode();
  } catch (error) {
    const isSpoilt = isDamage(error) && error.data.wrong !== true;
    if (!isSpoilt && !isNotFound(error)) throw error;
    if (objects.lose?.(entry) === true) {
      await objects.entries([entry]);
      return decode();
    }
    const isInStore = objects.lose !== undefined;
    const { code, data } = error;
    const what = isEncoding ? 'the encoding file' : `manifest ${manifest.ckey}`;
    // Who looks at a page of a server need not learn where its store lies.
    const message = isSpoilt || !isInStore ? error.message : `the file of ${objectPath(entry.object)} is gone`;
    throw new PakratError(code, `${what} ${isSpoilt ? 'is damaged' : 'is not there'}: ${message}`, {
      hint: isInStore ? 'Run `pakrat verify --repair`, which fetches it again.' : error.hint,
      data: { ...data, ...(isSpoilt && { wrong: true, onDisk: true }) },
      cause: error,
    });
  }
}
