import PQueue from 'p-queue';
import type { Build } from '../../builds/build.ts';
import { indexName, readIndices } from '../../builds/indices/indices.ts';
import type { EntryPlace } from '../../builds/objects.ts';
import { fromHex } from '../../core/bytes.ts';
import { isDamage, isUnavailable } from '../../core/errors.ts';
import type { Fetcher } from '../../fetch/fetcher.ts';
import type { ArchiveIndex } from '../../formats/indices/archive-index.ts';
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
  const patch = (hash: string): ObjectName => ({ cdnPath, kind: 'patch', hash });
  // Older CDN configs have no index of loose patches: whatever no archive has must be one.
  if (!lists.some(({ loose }) => loose)) {
    for (const { patchEkey: ekey, patchSize: size } of search.patches)
      found.places.set(ekey, { ekey, object: patch(ekey), loose: true, offset: 0, size });
  }
  const queue = new PQueue({ concurrency: settings.jobs });
  await queue.addAll(
    lists.map((list) => async () => {
      const { hash, loose } = list;
      const index = await readIndex(build, hash);
      if (absent.has(list)) found.fetchedBytes += heldSize(hash) ?? 0;
      for (const { patchEkey: ekey } of search.patches) {
        const entry = index?.find(fromHex(ekey));
        if (entry === undefined) continue;
        const { offset, size } = entry;
        found.places.set(ekey, { ekey, object: patch(loose ? ekey : hash), loose, offset: loose ? 0 : offset, size });
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

function patchLists({ cdnConfig }: Build): PatchList[] {
  const { patchArchives, patchArchiveIndexSizes, patchFileIndex, patchFileIndexSize = 0 } = cdnConfig;
  const lists = patchArchives.map((hash, i) => ({ hash, size: patchArchiveIndexSizes[i] ?? 0, loose: false }));
  if (patchFileIndex !== undefined) lists.push({ hash: patchFileIndex, size: patchFileIndexSize, loose: true });
  return lists;
}

async function readIndex(build: Build, hash: string): Promise<ArchiveIndex | undefined> {
  try {
    return (await readIndices(build.objects, [indexName(build.identity.cdnPath, 'patch', hash)]))[0];
  } catch (error) {
    if (!isNoList(error)) throw error;
    return undefined;
  }
}
