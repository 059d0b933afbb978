import type { Build } from '../../builds/build.ts';
import { indexName, readIndices } from '../../builds/indices/indices.ts';
import { toHex } from '../../core/bytes.ts';
import { isUnavailable } from '../../core/errors.ts';
import type { Fetcher } from '../../fetch/fetcher.ts';
import { partialFile } from '../../fetch/loose-objects.ts';
import type { RangeJob, RangeTarget } from '../../fetch/transfer/range-job.ts';
import type { TransferFailure } from '../../fetch/transfer/transfer.ts';
import type { IndexEntry } from '../../formats/indices/archive-index.ts';
import { type ObjectName, objectPath } from '../../store/layout.ts';
import { covers } from '../../store/spans.ts';
import type { Store } from '../../store/store.ts';

/**
 * Brings the objects that a mirror has beside the data: the product config, the patch config and manifest, and every patch, in archives
 * and loose. Patches are no BLTE objects: the key of one is the MD5 of its bytes.
 * @returns the objects that no host gave right
 */
export async function syncPatches(fetcher: Fetcher, build: Build): Promise<TransferFailure[]> {
  const failures: TransferFailure[] = [];
  /** Runs `bring`; that no host has the object is a failure of the sync, other trouble ends it. */
  const attempt = async (name: ObjectName, bring: () => Promise<unknown>): Promise<void> => {
    try {
      await bring();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      failures.push({ path: objectPath(name), ekeys: [], code: error.code, message: error.message });
    }
  };
  for (const name of patchConfigs(build)) await attempt(name, () => fetcher.object(name));
  const { patchArchives, patchFileIndex } = build.cdnConfig;
  const archives: { hash: string; entries: IndexEntry[] }[] = [];
  for (const hash of patchArchives) {
    const name = indexName(build.identity.cdnPath, 'patch', hash);
    await attempt(name, async () => archives.push({ hash, entries: await readEntries(build, name) }));
  }
  const loose: IndexEntry[] = [];
  if (patchFileIndex !== undefined) {
    const name = indexName(build.identity.cdnPath, 'patch', patchFileIndex);
    await attempt(name, async () => loose.push(...(await readEntries(build, name))));
  }
  const { store } = fetcher;
  const patchesMissing = function* (): Generator<RangeJob> {
    for (const { hash, entries } of archives) yield* archiveJobs(store, build, hash, entries);
    yield* looseJobs(store, build, loose);
  };
  failures.push(...(await fetcher.fetchPlanned({ kind: 'patch' }, patchesMissing)));
  return failures;
}

/** The small objects that have to do with patches, and the product config. */
function patchConfigs({ identity, config }: Build): ObjectName[] {
  const { cdnPath, configPath, productConfig } = identity;
  const { patch, patchConfig } = config;
  const names: ObjectName[] = [];
  if (productConfig) names.push({ cdnPath: configPath, kind: 'product', hash: productConfig });
  if (patchConfig !== undefined) names.push({ cdnPath, kind: 'config', hash: patchConfig });
  if (patch !== undefined) names.push({ cdnPath, kind: 'patch', hash: patch.ckey });
  return names;
}

async function readEntries(build: Build, name: ObjectName): Promise<IndexEntry[]> {
  const [index] = await readIndices(build.objects, [name]);
  return index === undefined ? [] : [...index];
}

function patchPath(build: Build, hash: string): string {
  return objectPath({ cdnPath: build.identity.cdnPath, kind: 'patch', hash });
}

/** A patch archive is small: one job for all of it that is not held. */
function archiveJobs(store: Store, build: Build, hash: string, entries: IndexEntry[]): RangeJob[] {
  const path = patchPath(build, hash);
  const held = store.ledger.spans(path);
  const targets = entries
    .sort((a, b) => a.offset - b.offset)
    .filter(({ offset, size }) => !covers(held, offset, offset + size))
    .map(({ ekey, offset, size }): RangeTarget => ({ ekey: toHex(ekey), offset, size, held: 0, raw: true }));
  const [first] = targets;
  if (first === undefined) return [];
  const end = targets.reduce((most, { offset, size }) => Math.max(most, offset + size), 0);
  return [{ path, file: store.file(path), start: first.offset, end, targets }];
}

function looseJobs(store: Store, build: Build, entries: readonly IndexEntry[]): RangeJob[] {
  return entries.flatMap(({ ekey, size }) => {
    const hash = toHex(ekey);
    const path = patchPath(build, hash);
    if (store.ledger.completeSize(path) !== undefined) return [];
    const target: RangeTarget = { ekey: hash, offset: 0, size, held: 0, raw: true };
    return [{ path, file: partialFile(store, hash), start: 0, end: size, targets: [target] }];
  });
}
