import { basename, join } from 'node:path';
import type { EntryPlace, Objects } from '../../builds/objects.ts';
import { findCalled } from '../../builds/resolve/build-spec.ts';
import { fromHex, toHex } from '../../core/bytes.ts';
import { isPakratError, PakratError, resultUnless } from '../../core/errors.ts';
import { reading, readOwn } from '../../files/read-at.ts';
import { childOf } from '../../files/walk.ts';
import { decodeBuildInfo, type InstalledBuild } from '../../formats/local/build-info.ts';
import type { LocalEntry } from '../../formats/local/local-index.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';
import { type EntryAt, entriesIn, entryBatch } from '../../verify/entry-columns.ts';
import { keyOfEntry } from '../../verify/entry-key.ts';
import {
  type CheckedObject,
  type CheckOptions,
  checkBatches,
  checkConfigs,
  checkedBy,
  checkFolderEntries,
  type FolderBatch,
  type FolderEntry,
} from '../check-folder.ts';
import { countHere, type FolderBuild, loosePlace, noArchives, notInstalled } from '../folder-build.ts';
import { readConfig } from '../read-file.ts';
import { findContainer, type Install } from './find-install.ts';
import { LocalStorage } from './local-storage.ts';

/**
 * Opens a build of an installed game: its configs, and the indices when they are asked. Nothing is written. Needs `close`.
 * @param choice product, branch, version or build config; undefined for the active one
 * @throws E_NOT_FOUND, E_USAGE as chooseBuild; E_FORMAT… for a damaged table
 */
export function openInstall(install: Install, path: string, choice: string | undefined): FolderBuild {
  const { builds } = decodeBuildInfo(reading(install.file, () => readOwn(install.file)));
  const row = chooseBuild(builds, choice ?? install.flavor, path);
  const { container, data } = findContainer(install.root);
  const storage = new LocalStorage(data);
  const configs = childOf(container, 'config') ?? join(container, 'config');
  return {
    kind: 'casc',
    path,
    identity: identityOf(row, install),
    cdnConfig: noArchives,
    notes: storage.notes,
    objects: installObjects(storage, configs),
    isHere: (ekeys) => ekeys.some((ekey) => findIn(storage, fromHex(ekey)) !== undefined),
    async info(build) {
      const others = builds.filter(({ buildKey }) => buildKey !== row.buildKey);
      return {
        path: install.root,
        container: storage.folder,
        branch: row.branch,
        installedTags: row.tags,
        alsoInstalled: others.map(buildName),
        installed: storage.amount(),
        ...(await countHere(build, (ekey) => findIn(storage, ekey) !== undefined)),
        notes: storage.notes,
      };
    },
    check: (options) => checkInstall(storage, configs, options),
    checkBytes: () => storage.amount().bytes,
    close: () => storage.close(),
  };
}

function identityOf(row: InstalledBuild, { root }: Install): BuildIdentity {
  return {
    product: row.product ?? row.cdnPath?.split('/').at(-1) ?? basename(root),
    name: row.version ?? row.buildKey,
    buildId: null,
    buildConfig: row.buildKey,
    cdnConfig: row.cdnKey ?? '',
    productConfig: null,
    keyRing: row.keyRing ?? null,
    region: row.branch ?? '',
    cdnPath: row.cdnPath ?? '',
    configPath: '',
    hosts: row.hosts.map((base) => ({ base, fallback: false })),
  };
}

/** The objects of an installation: entries go by their ekeys alone, in the data files. */
function installObjects(storage: LocalStorage, configs: string): Objects {
  return {
    config: async ({ hash }) => readConfig(configs, hash),
    index: ({ hash }) => Promise.reject(new PakratError('E_NOT_FOUND', `an installed game has no index ${hash}`)),
    entries: async () => {},
    locate: (ekey) => locate(storage, ekey),
    open({ ekey }) {
      const entry = storage.find(fromHex(ekey));
      if (entry === undefined) throw notInstalled(ekey);
      const blte = storage.blteOf(entry);
      if (blte.problem === undefined) return blte;
      const { code, message } = blte.problem;
      if (code === 'E_NOT_FOUND') throw notInstalled(ekey, message);
      throw new PakratError(code, `entry ${ekey}: ${message}`, {
        hint: 'Let the launcher of the game repair it.',
        data: { ekey },
      });
    },
  };
}

/** An entry; undefined also where the index that may know it cannot be read, which is told by whoever opens it. */
function findIn(storage: LocalStorage, ekey: Uint8Array): LocalEntry | undefined {
  return resultUnless(isPakratError, () => storage.find(ekey));
}

/** The place of an entry. Of a key that is known in part the rest is told by the entry itself. */
function locate(storage: LocalStorage, ekey: string): EntryPlace | undefined {
  const entry = findIn(storage, fromHex(ekey));
  if (entry === undefined) return undefined;
  const blte = storage.blteOf(entry);
  if (blte.problem !== undefined) return loosePlace(ekey, entry.size);
  const { file, offset, size } = blte;
  if (ekey.length === 32) return loosePlace(ekey, size);
  const read = (from: number, length: number): Uint8Array => storage.read(file, offset + from, length);
  return loosePlace(keyOfEntry(read, size), size);
}

/** Checks configs, index files, and every entry that is there: its local header, its ekey, its chunks. @throws E_ABORTED */
async function* checkInstall(
  storage: LocalStorage,
  configs: string,
  { signal, prove }: CheckOptions,
): AsyncGenerator<CheckedObject> {
  yield* checkConfigs(configs);
  for (const { path, check } of storage.newest()) yield checkedBy(path, 0, check);
  const check = (entries: Iterable<LocalEntry>): AsyncIterable<CheckedObject> =>
    checkFolderEntries(installedEntries(storage, entries), { signal, also: ({ header }) => header?.() });
  if (prove === undefined) {
    yield* check(storage.sorted());
    return;
  }
  let others = 0;
  const onOther = (): void => {
    others += 1;
  };
  yield* checkBatches(installedBatches(storage, check, onOther), prove);
  // Not kept meanwhile: of a game that was never downloaded to its end they are very many.
  if (others > 0) yield* check(othersOf(storage));
}

/** The entries of a data file that are proven together, and their bytes. */
const mostTogether = 8192;
const mostBytes = 64 << 20;

/** Entries that can be proven, of one data file each batch. */
function* installedBatches(
  storage: LocalStorage,
  check: (entries: Iterable<LocalEntry>) => AsyncIterable<CheckedObject>,
  onOther: () => void,
): Generator<FolderBatch> {
  let entries: EntryAt[] = [];
  let file = '';
  let bytes = 0;
  const batch = (): FolderBatch => {
    const made = entryBatch(file, false, entries);
    const again = function* (): Generator<LocalEntry> {
      for (const { ekey } of entriesIn(made)) {
        const entry = storage.find(ekey);
        if (entry !== undefined) yield entry;
      }
    };
    return { ...made, name: basename(file), check: () => check(again()) };
  };
  for (const entry of storage.sorted()) {
    const place = provablePlace(storage, entry);
    if (place === undefined) {
      onOther();
      continue;
    }
    if (entries.length > 0 && (place.file !== file || entries.length === mostTogether || bytes > mostBytes)) {
      yield batch();
      entries = [];
      bytes = 0;
    }
    file = place.file;
    entries.push({ ekey: entry.key, offset: place.offset, size: place.size });
    bytes += place.size;
  }
  if (entries.length > 0) yield batch();
}

/** The place of the BLTE object of an entry whose local header is right; undefined where that cannot be said. */
function provablePlace(
  storage: LocalStorage,
  entry: LocalEntry,
): { file: string; offset: number; size: number } | undefined {
  const blte = storage.blteOf(entry);
  if (blte.problem !== undefined) return undefined;
  const isRight = blte.offset === entry.offset || storage.headerProblem(entry) === undefined;
  return isRight ? blte : undefined;
}

function* othersOf(storage: LocalStorage): Generator<LocalEntry> {
  for (const entry of storage.sorted()) if (provablePlace(storage, entry) === undefined) yield entry;
}

function* installedEntries(
  storage: LocalStorage,
  entries: Iterable<LocalEntry>,
): Generator<FolderEntry & { header?: () => string | undefined }> {
  for (const entry of entries) {
    const ekey = toHex(entry.key);
    const name = `data.${String(entry.archive).padStart(3, '0')} ${ekey}`;
    const blte = storage.blteOf(entry);
    if (blte.problem !== undefined) {
      const { code, message } = blte.problem;
      const read = (): never => {
        throw new PakratError(code, message);
      };
      yield { name, ekey, size: entry.size, read };
      continue;
    }
    const { file, offset, size } = blte;
    const read = (from: number, length: number): Uint8Array => storage.read(file, offset + from, length);
    const header = offset > entry.offset ? () => storage.headerProblem(entry) : undefined;
    yield { name, ekey, size, read, ...(header && { header }) };
  }
}

/**
 * The build of an installation that is meant: the one that `choice` names by product, branch, version or build config, else the active one.
 * @throws E_NOT_FOUND when none has that name, E_USAGE when several are meant; both say which there are
 */
function chooseBuild(builds: readonly InstalledBuild[], choice: string | undefined, path: string): InstalledBuild {
  const fitting = choice === undefined ? builds : namedBuilds(builds, choice);
  const active = fitting.filter((build) => build.active);
  const meant = active.length > 0 ? active : fitting;
  const names = [...new Set(builds.map(buildName))];
  const data = { path, choice, known: names };
  const [first] = meant;
  if (first === undefined) {
    const problem = choice === undefined ? 'names no build' : `names no build ${choice}`;
    const hint = names.length === 0 ? undefined : `It has ${names.join(', ')}.`;
    throw new PakratError('E_NOT_FOUND', `the .build.info of ${path} ${problem}`, { hint, data });
  }
  if (new Set(meant.map(({ buildKey }) => buildKey)).size === 1) return first;
  throw new PakratError('E_USAGE', `${path} holds several builds: ${names.join(', ')}`, {
    hint: `Say which: ${path}@${shortName(first, meant)}.`,
    data,
  });
}

function namedBuilds(builds: readonly InstalledBuild[], choice: string): readonly InstalledBuild[] {
  const named = builds.filter((build) => isNamed(build, choice));
  if (named.length > 0) return named;
  const begun = findCalled(choice, builds, ({ version = '', buildKey }) => ({ name: version, buildConfig: buildKey }));
  return builds.filter(({ buildKey }) => buildKey === begun?.buildKey);
}

/** The build id is the last part of a version. */
function isNamed({ product, branch, version, buildKey }: InstalledBuild, choice: string): boolean {
  const buildId = version?.split('.').at(-1);
  return [product, branch, version, buildId, buildKey].some((name) => name?.toLowerCase() === choice.toLowerCase());
}

/** The name of an installed build: product, branch and version. */
function buildName({ product, branch, version, buildKey }: InstalledBuild): string {
  return [product, branch, version ?? buildKey].filter(Boolean).join(' ');
}

/** The shortest name of a build that no other one has. */
function shortName(build: InstalledBuild, others: readonly InstalledBuild[]): string {
  const names = [build.product, build.branch, build.version].filter((name) => name !== undefined);
  const unique = names.find((name) => others.every((other) => other === build || !isNamed(other, name)));
  return unique ?? build.buildKey;
}
