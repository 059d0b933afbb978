import * as fs from 'node:fs';
import PQueue from 'p-queue';
import { indexName } from '../../builds/indices/indices.ts';
import type { EntryPlace } from '../../builds/objects.ts';
import { fromHex } from '../../core/bytes.ts';
import { isDamage, isUnavailable } from '../../core/errors.ts';
import { decodeArchiveIndex } from '../../formats/indices/archive-index.ts';
import { type ObjectName, objectPath } from '../../store/layout.ts';
import type { SyncTools } from '../sync-build.ts';

/** Where patches lie, by their ekeys in hex, and what it took to know. */
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
  tools: SyncTools,
  search: { patches: readonly { patchEkey: string; patchSize: number }[]; mostBytes: number },
): Promise<FoundPatches | string> {
  const { build, store } = tools;
  const { cdnPath } = build.identity;
  const { patchArchives, patchArchiveIndexSizes, patchFileIndex, patchFileIndexSize = 0 } = build.cdnConfig;
  const lists = patchArchives.map((hash, i) => ({ hash, size: patchArchiveIndexSizes[i] ?? 0 }));
  if (patchFileIndex !== undefined) lists.push({ hash: patchFileIndex, size: patchFileIndexSize });
  const isAbsent = (hash: string): boolean =>
    store.ledger.completeSize(objectPath(indexName(cdnPath, 'patch', hash))) === undefined;
  const cost = lists.reduce((sum, { hash, size }) => sum + (isAbsent(hash) ? size : 0), 0);
  if (cost >= search.mostBytes) return 'the indices of its patches are larger than what the patches save';

  const found: FoundPatches = { places: new Map(), fetchedBytes: 0 };
  const patch = (hash: string): ObjectName => ({ cdnPath, kind: 'patch', hash });
  // Older CDN configs have no index of loose patches: whatever no archive has must be one.
  if (patchFileIndex === undefined) {
    for (const { patchEkey: ekey, patchSize: size } of search.patches)
      found.places.set(ekey, { ekey, object: patch(ekey), loose: true, offset: 0, size });
  }
  const queue = new PQueue({ concurrency: tools.jobs });
  await queue.addAll(
    lists.map(({ hash }) => async () => {
      const absent = isAbsent(hash);
      const index = await readIndex(tools, hash);
      if (absent && index !== undefined) found.fetchedBytes += index.size;
      for (const { patchEkey: ekey } of search.patches) {
        const entry = index?.find(fromHex(ekey));
        if (entry === undefined) continue;
        const loose = hash === patchFileIndex;
        const { offset, size } = entry;
        found.places.set(ekey, { ekey, object: patch(loose ? ekey : hash), loose, offset: loose ? 0 : offset, size });
      }
    }),
  );
  return found;
}

async function readIndex(tools: SyncTools, hash: string) {
  try {
    const [file] = await tools.build.objects.indices([indexName(tools.build.identity.cdnPath, 'patch', hash)]);
    const bytes = new Uint8Array(fs.readFileSync(file!));
    const index = decodeArchiveIndex(bytes, hash);
    return { size: bytes.length, find: (ekey: Uint8Array) => index.find(ekey) };
  } catch (error) {
    if (!isNoList(error)) throw error;
    return undefined;
  }
}
