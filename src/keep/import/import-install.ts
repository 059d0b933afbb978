import { join } from 'node:path';
import { hostsOfRow } from '../../cdn/hosts/host-names.ts';
import { breathe } from '../../core/breathe.ts';
import { toHex } from '../../core/bytes.ts';
import { isPakratError, PakratError, resultUnless } from '../../core/errors.ts';
import { forgetLost } from '../../fetch/lost-files.ts';
import { childOf, namesIn } from '../../files/walk.ts';
import { type ArchiveIndex, decodeArchiveIndex } from '../../formats/indices/archive-index.ts';
import { decodeBuildInfo, type InstalledBuild } from '../../formats/local/build-info.ts';
import { cell } from '../../formats/services/bpsv.ts';
import { findContainer, findInstall, isInstall } from '../../installs/casc/find-install.ts';
import { LocalStorage } from '../../installs/casc/local-storage.ts';
import { isSafeCdnPath, type ObjectName, objectPath, usualConfigPath } from '../../store/layout.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';
import { keyOfEntry } from '../../verify/entry-key.ts';
import type { FoundFile } from './find/found-files.ts';
import { addAmount } from './import-report.ts';
import type { ImportRun } from './import-run.ts';
import { mostTableBytes, plainSize, readPlain } from './take/entry-source.ts';
import type { FoundEntry, ScatteredEntries } from './take/scattered-entries.ts';
import { type EntryWork, takeEntries } from './take/take-entries.ts';

/** An installed game, as an import takes it. Needs `close`. */
export interface InstalledGame {
  builds: BuildIdentity[];
  /** Keys with which the CDN encrypts each object of a CDN path as a whole. */
  keyNames: { cdnPath: string; keyName: string }[];
  /** The folder with the configs of its builds. */
  configs: string;
  /** Indices of archives that the client keeps. */
  indices: FoundFile[];
  storage: LocalStorage;
  entries: ScatteredEntries;
}

/**
 * The installed game in a folder; undefined when it is none.
 * @throws E_UNSUPPORTED for one without indices, E_FORMAT… for a damaged table, E_USAGE when nothing tells its CDN path
 */
export function openGame(
  path: string,
  fallback: { cdnPath?: string | undefined; product?: string | undefined },
): InstalledGame | undefined {
  if (!isInstall(path) && childOf(path, '.flavor.info') === undefined) return undefined;
  const install = findInstall(path);
  if (install.form === 'static') {
    throw new PakratError('E_UNSUPPORTED', `${path} is a static container, whose entries no index of a CDN has`);
  }
  const { builds } = decodeBuildInfo(readPlain(install.file, mostTableBytes));
  const { container, data } = findContainer(install.root);
  const identities = builds.flatMap((row) => identityOfInstalled(row, fallback) ?? []);
  const [first] = identities;
  if (first === undefined) {
    throw new PakratError('E_USAGE', `${install.file} does not tell the product or the CDN path of its builds`, {
      hint: 'Say them: --product wow --cdn-path tpr/wow.',
      data: { path },
    });
  }
  const storage = new LocalStorage(data);
  return {
    builds: identities,
    keyNames: builds.flatMap(({ cdnPath, armadillo }) =>
      cdnPath !== undefined && armadillo !== undefined ? [{ cdnPath, keyName: armadillo.replace(/\.ak$/, '') }] : [],
    ),
    configs: childOf(container, 'config') ?? container,
    indices: indexFiles(childOf(container, 'indices'), first.cdnPath),
    storage,
    entries: { isPlain: true, find: (ekey) => findInstalled(storage, ekey), close: () => storage.close() },
  };
}

function identityOfInstalled(
  row: InstalledBuild,
  fallback: { cdnPath?: string | undefined; product?: string | undefined },
): BuildIdentity | undefined {
  const cdnPath = row.cdnPath !== undefined && isSafeCdnPath(row.cdnPath) ? row.cdnPath : fallback.cdnPath;
  const product = row.product ?? fallback.product ?? cdnPath?.split('/').at(-1);
  if (product === undefined || cdnPath === undefined || row.cdnKey === undefined) return undefined;
  const version = row.version ?? row.buildKey;
  return {
    product,
    name: version,
    buildId: /\.(\d+)$/.exec(version)?.[1] ?? null,
    buildConfig: row.buildKey,
    cdnConfig: row.cdnKey,
    productConfig: null,
    keyRing: row.keyRing ?? null,
    region: row.branch ?? '',
    cdnPath,
    configPath: usualConfigPath,
    hosts: hostsOfRow(row.row && cell(row.row, 'CDN Servers'), row.hosts.join(' ')),
  };
}

function indexFiles(folder: string | undefined, cdnPath: string): FoundFile[] {
  if (folder === undefined) return [];
  return namesIn(folder).flatMap((name): FoundFile[] => {
    const [, hash] = /^([0-9a-f]{32})\.index$/.exec(name) ?? [];
    const file = join(folder, name);
    const size = hash === undefined ? undefined : resultUnless(isPakratError, () => plainSize(file));
    return hash === undefined || size === undefined
      ? []
      : [{ file, size, name: { cdnPath, kind: 'data', hash, suffix: '.index' } }];
  });
}

/** An entry of a data file. One that was never downloaded is not there. */
function findInstalled(storage: LocalStorage, ekey: Uint8Array): FoundEntry | undefined {
  const entry = resultUnless(isPakratError, () => storage.find(ekey));
  if (entry === undefined) return undefined;
  const blte = resultUnless(isPakratError, () => storage.blteOf(entry));
  if (blte?.problem?.code === 'E_NOT_FOUND') return undefined;
  return {
    size: blte === undefined || blte.problem !== undefined ? entry.size : blte.size,
    read(offset, size) {
      if (blte === undefined || blte.problem !== undefined)
        throw new PakratError('E_INTEGRITY', blte?.problem?.message ?? 'it cannot be read');
      return storage.read(blte.file, blte.offset + offset, size);
    },
  };
}

/**
 * Takes the entries of an install that lie in no archive: on the CDN each is an object of its own.
 * @param isPlaced true for an ekey, its first 9 bytes, that an archive has
 * @param lists the indices of loose objects; where there are none, all that is left is taken
 * @returns work that waits for another process
 * @throws E_ABORTED, E_STORE…
 */
export async function takeLooseEntries(
  run: ImportRun,
  { storage, builds }: InstalledGame,
  { isPlaced, lists }: { isPlaced: (ekey: string) => boolean; lists: readonly Uint8Array[] },
): Promise<EntryWork[]> {
  const indices = lists.map((bytes) => decodeArchiveIndex(bytes));
  const later: EntryWork[] = [];
  const cdnPath = builds[0]?.cdnPath ?? '';
  let obsolete = 0;
  for (const { key } of storage.sorted()) {
    await breathe(run.settings.signal);
    const ekey = toHex(key);
    const found = isPlaced(ekey) ? undefined : findInstalled(storage, key);
    if (found === undefined) continue;
    const isListed = indices.length === 0 || indices.some((index) => hasKey(index, key));
    if (!isListed) {
      obsolete += 1;
      run.pass(found.size);
      continue;
    }
    const work = looseWork(run, found, { ekey, cdnPath });
    const left = work && (await takeEntries(run, work));
    if (left !== undefined) later.push(left);
  }
  if (obsolete > 0) tellObsolete(run, storage.folder, obsolete);
  return later;
}

function hasKey(index: ArchiveIndex, key: Uint8Array): boolean {
  return index.find(key) !== undefined;
}

function tellObsolete({ report }: ImportRun, name: string, count: number): void {
  report.unknown.push({ name, message: `${count} of its entries are of no archive and no loose object of its builds` });
}

function looseWork(
  run: ImportRun,
  found: FoundEntry,
  { ekey, cdnPath }: { ekey: string; cdnPath: string },
): EntryWork | undefined {
  const { report, store } = run;
  const hash = resultUnless(isPakratError, () => keyOfEntry(found.read, found.size));
  if (hash?.startsWith(ekey) !== true) {
    run.damaged.add({ name: ekey, code: 'E_INTEGRITY', message: 'it is not what its key says' });
    run.pass(found.size);
    return undefined;
  }
  const name: ObjectName = { cdnPath, kind: 'data', hash };
  const path = objectPath(name);
  if (store.writable) forgetLost(store, [path]);
  if (store.ledger.completeSize(path) !== undefined) {
    addAmount(report.held, { objects: 1, bytes: found.size });
    run.pass(found.size);
    return undefined;
  }
  const entries = [{ ekey: hash, offset: 0, size: found.size, raw: false }];
  const read = (_: unknown, offset: number, size: number): Uint8Array => found.read(offset, size);
  return { name, entries, loose: true, open: () => ({ isPlain: true, held: ({ size }) => size, read, close() {} }) };
}
