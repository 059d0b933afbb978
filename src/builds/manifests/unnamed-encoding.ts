import { toHex } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';
import type { ArchiveIndex, IndexEntry } from '../../formats/indices/archive-index.ts';
import type { PagedIndex } from '../indices/paged-index.ts';
import type { EntryPlace } from '../objects.ts';

/** Entries of one size that are tried for a manifest whose ekey nobody gives. */
const maxCandidates = 8;

/** The indices of a build. */
interface Indices {
  fileIndex: ArchiveIndex | undefined;
  group: PagedIndex | undefined;
  locate(ekey: string): EntryPlace | undefined;
}

/** The entries that have this size, the first few: for an encoding file whose ekey the config does not give. */
export function placesOfSize(indices: Indices, size: number | undefined): EntryPlace[] {
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
export function unnamedEncoding(buildConfig: string, ckey: string): PakratError {
  return new PakratError('E_FORMAT', `build config ${buildConfig} names the encoding file by ${ckey} alone`, {
    hint: 'Its encoding key cannot be found out; another build of the product may have a whole config.',
    data: { buildConfig, ckey },
  });
}
