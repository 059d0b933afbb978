import PQueue from 'p-queue';
import type { Build } from '../../builds/build.ts';
import { indexName, readIndex } from '../../builds/indices/indices.ts';
import type { EntryPlace } from '../../builds/objects.ts';
import { fromHex, toHex } from '../../core/bytes.ts';
import { isDamage, isUnavailable } from '../../core/errors.ts';
import type { Fetcher } from '../../fetch/fetcher.ts';
import type { ArchiveIndex, IndexEntry } from '../../formats/indices/archive-index.ts';
import { type ObjectName, objectPath } from '../../store/layout.ts';

/** The places of patches, by their ekeys in hex, and the bytes that were fetched to know them. */
export interface FoundPatches {
  places: Map<string, EntryPlace>;
  fetchedBytes: number;
}

/** Codes of a list that cannot be had or is not what it should be: then there are no patches from it, and no harm is done. */
export function isNoList(error: unknown): boolean {
  return isDamage(error) || isUnavailable(error);
}

/**
 * Finds patches in the indices of patch archives and of loose patches.
 * @param search `mostBytes`: the indices that are not held yet may take less than that, or nothing is fetched
 * @returns why not, when they would take more
 * @throws E_ABORTED, E_STORE…
 */
export async function findPatches(
  { store, settings }: Fetcher,
  build: Build,
  search: { patches: readonly { patchEkey: string; patchSize: number }[]; mostBytes: number },
): Promise<FoundPatches | string> {
  const { cdnPath } = build.identity;
  const lists = patchLists(build);
  const heldSize = (hash: string): number | undefined =>
    store.ledger.completeSize(objectPath(indexName(cdnPath, 'patch', hash)));
  const absent = new Set(lists.filter(({ hash }) => heldSize(hash) === undefined));
  const cost = [...absent].reduce((sum, { size }) => sum + size, 0);
  if (cost >= search.mostBytes) return 'the indices of its patches are larger than what the patches save';

  const found: FoundPatches = { places: new Map(), fetchedBytes: 0 };
  // Older CDN configs have no index of loose patches: whatever no archive has must be one.
  if (!lists.some(({ loose }) => loose)) {
    for (const { patchEkey: ekey, patchSize: size } of search.patches) {
      const object: ObjectName = { cdnPath, kind: 'patch', hash: ekey };
      found.places.set(ekey, { ekey, object, loose: true, offset: 0, size });
    }
  }
  const queue = new PQueue({ concurrency: settings.jobs });
  await queue.addAll(
    lists.map((list) => async () => {
      const read = await readPatchList(build, list).catch(unlessNoList);
      if (absent.has(list)) found.fetchedBytes += heldSize(list.hash) ?? 0;
      for (const { patchEkey: ekey } of search.patches) {
        const entry = read?.index.find(fromHex(ekey));
        if (read !== undefined && entry !== undefined) found.places.set(ekey, read.placeOf(entry));
      }
    }),
  );
  return found;
}

/** An index of patches: of an archive, or of all that lie loose. */
interface PatchList {
  hash: string;
  size: number;
  loose: boolean;
}

/** The indices of a build's patches: those of archives, then that of the loose ones. */
export function patchLists({ cdnConfig }: Build): PatchList[] {
  const { patchArchives, patchArchiveIndexSizes, patchFileIndex, patchFileIndexSize = 0 } = cdnConfig;
  const lists = patchArchives.map((hash, i) => ({ hash, size: patchArchiveIndexSizes[i] ?? 0, loose: false }));
  if (patchFileIndex !== undefined) lists.push({ hash: patchFileIndex, size: patchFileIndexSize, loose: true });
  return lists;
}

/** Reads an index of patches, which is fetched where it is not held. @throws as `Objects.index` */
export async function readPatchList(
  { identity: { cdnPath }, objects }: Build,
  { hash, size, loose }: PatchList,
): Promise<{ index: ArchiveIndex; placeOf: (entry: IndexEntry) => EntryPlace }> {
  const index = await readIndex(objects, indexName(cdnPath, 'patch', hash), size);
  return {
    index,
    placeOf({ ekey: key, offset, size }) {
      const ekey = toHex(key);
      const object: ObjectName = { cdnPath, kind: 'patch', hash: loose ? ekey : hash };
      return { ekey, object, loose, offset: loose ? 0 : offset, size };
    },
  };
}

function unlessNoList(error: unknown): undefined {
  if (!isNoList(error)) throw error;
}
