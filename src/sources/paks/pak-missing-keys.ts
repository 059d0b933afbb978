import { basename } from 'node:path';
import { addFile, type MissingKey } from '../../builds/keys/missing-key.ts';
import { isPakratError, type PakratError } from '../../core/errors.ts';
import { firstNot } from '../../core/sorting/first-not.ts';
import { eachEntry } from '../../paks/many-entries.ts';
import type { Pak, PakEntry } from '../../paks/pak.ts';

/** Entries that are tried at most in each PAK: one that cannot be read for another reason says nothing of the key. */
const trials = 16;

/**
 * The keys that are missing to read a PAK or a folder of them. A PAK has one key: whether it is at hand shows at the first file that
 * can be read or not.
 * @param label path of the PAK
 */
export async function pakMissingKeys(pak: Pak, label: string): Promise<MissingKey[]> {
  const { locked } = pak;
  if (locked !== undefined) return [{ key: keyNameOf(locked, label), files: null, bytes: null, names: [] }];
  const rows = (pak.lockedParts ?? []).map(({ origin, error }): MissingKey => {
    return { key: keyNameOf(error, origin), files: null, bytes: null, names: [], origin };
  });
  for (const [origin, { sum, smallest }] of encryptedByOrigin(pak)) {
    const error = await missingKeyError(pak, smallest);
    if (error === undefined) continue;
    rows.push({ ...sum, key: keyNameOf(error, origin ?? label), ...(origin !== undefined && { origin }) });
  }
  return rows.sort((a, b) => (b.bytes ?? Number.MAX_VALUE) - (a.bytes ?? Number.MAX_VALUE));
}

/** The encrypted files of a PAK: there may be millions, and few of them are looked at. */
interface EncryptedFiles {
  /** A row for all of them, whose key is not known yet. */
  sum: MissingKey;
  /** Those that are tried. */
  smallest: PakEntry[];
}

/** The encrypted files of each PAK, those that the game sees; an empty one needs no key. */
function encryptedByOrigin(pak: Pak): Map<string | undefined, EncryptedFiles> {
  const groups = new Map<string | undefined, EncryptedFiles>();
  for (const entry of eachEntry(pak)) {
    if (!entry.encrypted || entry.hidden !== undefined || entry.size === 0) continue;
    const group = groups.get(entry.origin) ?? { sum: { key: '', files: 0, bytes: 0, names: [] }, smallest: [] };
    groups.set(entry.origin, group);
    addFile(group.sum, entry.name, entry.size);
    addSmall(group.smallest, entry);
  }
  return groups;
}

/** Adds an entry to the smallest of all so far, unless it is none of them. */
function addSmall(smallest: PakEntry[], entry: PakEntry): void {
  const place = firstNot(0, smallest.length, (i) => smallest[i]!.storedSize <= entry.storedSize);
  if (place === trials) return;
  smallest.splice(place, 0, entry);
  smallest.length = Math.min(smallest.length, trials);
}

/** The error for the key of these entries; undefined when it is at hand, or when none of them can be read anyway. */
async function missingKeyError(pak: Pak, entries: readonly PakEntry[]): Promise<PakratError | undefined> {
  for (const entry of entries) {
    try {
      for await (const _ of pak.read(entry)) break;
      return undefined;
    } catch (error) {
      if (!isPakratError(error)) throw error;
      if (error.code === 'E_KEY_MISSING') return error;
    }
  }
  return undefined;
}

/** The name of a key: the GUID of an Unreal key (zeros for the main key of a game), else the name of the pack that it opens. */
function keyNameOf({ data }: PakratError, path: string): string {
  return typeof data.keyGuid === 'string' ? data.keyGuid : basename(path);
}
