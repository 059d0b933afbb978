import { isDamage, isNotFound, isNowhere, isUnavailable, PakratError } from '../../core/errors.ts';
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

/** True for what the disk has spoilt or lost; not for what is published so. */
function isLost(error: unknown): error is PakratError {
  return isNotFound(error) || (isDamage(error) && error.data.wrong !== true);
}

/** Sees to it that an entry is held, and reads it. What a disk has spoilt or lost of it since it was held is brought again. @throws as `Objects.entries` and reading do */
export async function readOrBring<Result>(
  objects: Objects,
  entry: EntryPlace,
  read: () => Promise<Result>,
): Promise<Result> {
  await objects.entries([entry]);
  try {
    return await read();
  } catch (error) {
    if (!isLost(error) || (await objects.lose?.(entry)) !== true) throw error;
  }
  await objects.entries([entry]);
  return read();
}

/**
 * Sees to it that a manifest is held, and decodes it to its derived file. What a disk has spoilt or lost of it since it was held is brought again.
 * @throws where nobody brings it again: with `wrong` in the data where it is damaged, with `onDisk` where it was right once; else as `Objects.entries` and `decodeHeld` do
 */
export async function bringManifest(
  { objects, folders }: { objects: Objects; folders: ManifestFolders },
  { manifest, entry, isEncoding }: PlacedManifest,
  keys: KeyRing,
): Promise<void> {
  let ofReading: unknown;
  const decode = (): Promise<void> =>
    decodeHeld({ objects, folders }, entry, manifest, keys).catch((error: unknown) => {
      ofReading = error;
      throw error;
    });
  try {
    await readOrBring(objects, entry, decode);
  } catch (error) {
    if (error !== ofReading || !isLost(error))
      throw isEncoding && isUnavailable(error) ? lackingEncoding(error) : error;
    const isSpoilt = isDamage(error);
    const isInStore = objects.lose !== undefined;
    const { code, data } = error;
    const what = isEncoding ? 'the encoding file' : `manifest ${manifest.ckey}`;
    // Who looks at a page of a server need not learn where its store lies.
    const message = isSpoilt || !isInStore ? error.message : `the file of ${objectPath(entry.object)} is gone`;
    throw new PakratError(code, `${what} ${isSpoilt ? 'is damaged' : 'is not there'}: ${message}`, {
      hint: isInStore ? 'Run `pakrat verify --repair`, which fetches it again.' : error.hint,
      data: { ...data, ...(isSpoilt && { wrong: true }), ...((isSpoilt || isInStore) && { onDisk: true }) },
      cause: error,
    });
  }
}

/** A build without it has neither names nor choices, but all that its indices list can be kept. */
function lackingEncoding(error: PakratError): PakratError {
  const { code, message, hint, data, cause } = error;
  const rest = isNowhere(error) ? ' `pakrat sync PRODUCT --all` keeps the rest of the build.' : '';
  return new PakratError(code, `the encoding file cannot be had: ${message}`, {
    hint: hint && hint + rest,
    data,
    cause,
  });
}
