import { toHex } from '../../core/bytes.ts';
import { isDamage, isUnavailable, PakratError } from '../../core/errors.ts';
import type { KeyRing } from '../../formats/blte/keys.ts';
import type { ManifestKeys } from '../../formats/configs/build-config.ts';
import type { ArchiveIndex, IndexEntry } from '../../formats/indices/archive-index.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';
import type { PagedIndex } from '../indices/paged-index.ts';
import type { BuildPlace, EntryPlace } from '../objects.ts';
import { bringManifest } from './bring-manifest.ts';

/** Entries of one size that are tried for a manifest whose ekey nobody gives. */
const maxCandidates = 8;

/** The indices of a build. */
interface Indices {
  fileIndex: ArchiveIndex | undefined;
  group: PagedIndex | undefined;
  locate(ekey: string): EntryPlace | undefined;
}

/**
 * Brings an encoding file of which the config does not give the ekey: by its size, which hardly another entry has.
 * @throws E_FORMAT when it is not found, E_ABORTED, E_STORE…
 */
export async function bringUnnamed(
  build: Indices & { identity: Pick<BuildIdentity, 'buildConfig'>; keys: KeyRing },
  place: BuildPlace,
  manifest: ManifestKeys,
): Promise<void> {
  for (const entry of placesOfSize(build, manifest.encodedSize)) {
    try {
      return await bringManifest(place, { manifest, entry, isEncoding: true }, build.keys);
    } catch (error) {
      if (!isDamage(error) && !isUnavailable(error)) throw error;
    }
  }
  throw unnamedEncoding(build.identity.buildConfig, manifest.ckey);
}

/** The entries that have this size, the first few. */
function placesOfSize(indices: Indices, size: number | undefined): EntryPlace[] {
  const places: EntryPlace[] = [];
  if (size === undefined) return places;
  for (const entry of entriesOf(indices)) {
    const place = entry.size === size ? indices.locate(toHex(entry.ekey)) : undefined;
    if (place !== undefined && places.push(place) === maxCandidates) break;
  }
  return places;
}

function* entriesOf({ fileIndex, group }: Indices): Generator<IndexEntry> {
  if (fileIndex !== undefined) yield* fileIndex;
  if (group !== undefined) for (const page of group.pages()) yield* page;
}

/** The error of a config whose encoding file is not found by its size either. */
function unnamedEncoding(buildConfig: string, ckey: string): PakratError {
  return new PakratError('E_FORMAT', `build config ${buildConfig} names the encoding file by ${ckey} alone`, {
    hint: 'Its encoding key cannot be found out; another build of the product may have a whole config.',
    data: { buildConfig, ckey },
  });
}
