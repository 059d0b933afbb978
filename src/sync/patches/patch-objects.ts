import { indexName, readIndices } from '../../builds/indices/indices.ts';
import { toHex } from '../../core/bytes.ts';
import { isUnavailable } from '../../core/errors.ts';
import { completeLoose, partialFile, smallObject } from '../../fetch/store-objects.ts';
import type { RangeJob, RangeTarget } from '../../fetch/transfer/fetch-range.ts';
import { type TransferFailure, transfer } from '../../fetch/transfer/transfer.ts';
import type { IndexEntry } from '../../formats/indices/archive-index.ts';
import { type ObjectName, objectPath } from '../../store/layout.ts';
import { covers } from '../../store/spans.ts';
import { checkObject } from '../../verify/check-object.ts';
import type { SyncTools } from '../sync-build.ts';

/**
 * Brings what a mirror has beside the data: the product config, the patch config and manifest, and every patch, in archives and loose.
 * Patches are no BLTE objects: the key of one is the MD5 of its bytes.
 * @returns what no host gave right
 */
export async function syncPatches(tools: SyncTools): Promise<TransferFailure[]> {
  const { build, store } = tools;
  const cdn = await tools.cdn();
  const { patchArchives, patchFileIndex } = build.cdnConfig;
  const failures = await syncPatchConfigs(tools);
  const jobs: RangeJob[] = [];
  for (const hash of patchArchives) {
    await noting(failures, indexName(build.identity.cdnPath, 'patch', hash), async () => {
      jobs.push(...archiveJobs(tools, hash, await indexEntries(tools, hash)));
    });
  }
  if (patchFileIndex !== undefined) {
    await noting(failures, indexName(build.identity.cdnPath, 'patch', patchFileIndex), async () => {
      jobs.push(...looseJobs(tools, await indexEntries(tools, patchFileIndex)));
    });
  }
  const { hosts, signal, attemptsPerHost } = cdn;
  const options = {
    hosts,
    engine: await tools.engine(),
    jobs: tools.jobs,
    attemptsPerHost,
    kind: 'patch' as const,
    signal,
  };
  failures.push(...(await transfer(jobs, { ...options, onDone: (job, target) => completeLoose(store, job, target) })));
  tools.committer.flush();
  return failures;
}

async function syncPatchConfigs(tools: SyncTools): Promise<TransferFailure[]> {
  const { build } = tools;
  const { cdnPath, configPath, productConfig } = build.identity;
  const { patch, patchConfig } = build.config;
  const failures: TransferFailure[] = [];
  const config = (name: ObjectName): Promise<void> => noting(failures, name, () => build.objects.config(name));
  if (productConfig) await config({ cdnPath: configPath, kind: 'product', hash: productConfig });
  if (patchConfig !== undefined) await config({ cdnPath, kind: 'config', hash: patchConfig });
  if (patch !== undefined) {
    const name: ObjectName = { cdnPath, kind: 'patch', hash: patch.ckey };
    await noting(failures, name, () => smallObject(tools, name, (bytes) => checkObject(name, bytes)));
  }
  return failures;
}

/** Runs `bring`; that no host has the object is noted, other trouble is thrown. */
async function noting(failures: TransferFailure[], name: ObjectName, bring: () => Promise<unknown>): Promise<void> {
  try {
    await bring();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    failures.push({ path: objectPath(name), ekeys: [], code: error.code, message: error.message });
  }
}

async function indexEntries(tools: SyncTools, hash: string): Promise<IndexEntry[]> {
  const [index] = await readIndices(tools.build.objects, [indexName(tools.build.identity.cdnPath, 'patch', hash)]);
  return Array.from({ length: index!.count }, (_, i) => index!.entry(i));
}

function patchPath(tools: SyncTools, hash: string): string {
  return objectPath({ cdnPath: tools.build.identity.cdnPath, kind: 'patch', hash });
}

/** A patch archive is small: one job for each stretch of it that is not held. */
function archiveJobs(tools: SyncTools, hash: string, entries: IndexEntry[]): RangeJob[] {
  const path = patchPath(tools, hash);
  const held = tools.store.ledger.spans(path);
  const missing = entries
    .sort((a, b) => a.offset - b.offset)
    .filter(({ offset, size }) => !covers(held, offset, offset + size));
  if (missing.length === 0) return [];
  const targets = missing.map(
    ({ ekey, offset, size }): RangeTarget => ({ ekey: toHex(ekey), offset, size, held: 0, raw: true }),
  );
  const end = targets.reduce((most, { offset, size }) => Math.max(most, offset + size), 0);
  return [{ path, file: tools.store.file(path), start: targets[0]!.offset, end, targets }];
}

function looseJobs(tools: SyncTools, entries: readonly IndexEntry[]): RangeJob[] {
  return entries.flatMap(({ ekey, size }) => {
    const hash = toHex(ekey);
    const path = patchPath(tools, hash);
    if (tools.store.ledger.completeSize(path) !== undefined) return [];
    const target: RangeTarget = { ekey: hash, offset: 0, size, held: 0, raw: true };
    return [{ path, file: partialFile(tools.store, hash), start: 0, end: size, targets: [target] }];
  });
}
