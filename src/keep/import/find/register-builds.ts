import { indexName } from '../../../builds/indices/indices.ts';
import { isPakratError, resultUnless } from '../../../core/errors.ts';
import { type CdnConfig, decodeCdnConfig } from '../../../formats/configs/cdn-config.ts';
import { decodeProductConfig } from '../../../formats/configs/product-config.ts';
import { addConfig, type FolderConfigs, noConfigs } from '../../../installs/cdn-folder/configs.ts';
import { isSafeCdnPath, type ObjectName, objectPath } from '../../../store/layout.ts';
import { type BuildIdentity, type BuildRow, keyOf } from '../../../store/ledger/rows.ts';
import { checkObject } from '../../../verify/check-object.ts';
import type { ImportRun } from '../import-run.ts';
import { mostTableBytes, readPlain } from '../take/entry-source.ts';
import { hasSmall, readSmall } from '../take/take-small.ts';
import { buildsOfTables, identityOfConfig } from './foreign-builds.ts';
import type { ForeignBuild } from './foreign-store.ts';
import type { FoundFiles } from './found-files.ts';

/** How builds are found, and what lacks of them brought. */
export interface BuildSearch {
  /** The product of builds that do not tell theirs. */
  product?: string | undefined;
  region: string;
  /** Fetches configs and indices of a build that the folder has not, without which nothing says what its archives are; absent offline. */
  bring?: ((build: BuildIdentity, names: readonly ObjectName[]) => Promise<void>) | undefined;
}

/** What the configs that are here say. */
export interface HereBuilds {
  /** Archives of the builds, those of patches among them, each once. */
  archives: ObjectName[];
  isArchive: (name: ObjectName) => boolean;
  /** True for an archive of a build that the store knows. */
  isListed: (name: ObjectName) => boolean;
  /** The indices of loose objects, as far as they are here. */
  fileIndices: Uint8Array[];
  /** The index of each archive of data is here, and that of what lies loose. */
  knowsIndices: boolean;
}

/**
 * Finds the builds that a folder has the configs of, and makes them known to the store: from then on garbage collection keeps what they name. Of a
 * build whose archives lie there whole all is kept that its CDN config lists.
 * @param others those that another ledger, or an installed game, names
 * @returns those builds
 * @throws E_ABORTED, E_STORE…
 */
export async function findBuilds(
  run: ImportRun,
  search: BuildSearch,
  { found, others }: { found: FoundFiles; others: readonly ForeignBuild[] },
): Promise<BuildIdentity[]> {
  const foreign = others.map(({ identity }) => identity);
  const candidates = [...buildsInTables(found, search), ...foreign].filter(({ cdnPath }) => isSafeCdnPath(cdnPath));
  for (const build of candidates) await bringConfig(run, search, build);
  const named = candidates.filter((build) => configsOf(build).every((name) => readSmall(run, name) !== undefined));
  const known = new Set([...named, ...run.store.ledger.builds()].map(({ buildConfig }) => buildConfig));
  const own = run.store.ledger.builds().filter((row) => hasConfig(found, row));
  const all = [...named, ...buildsInConfigs(run, found, { ...search, known }), ...own];
  const builds = [...new Map(all.map((build) => [keyOf(build), build])).values()];
  const wantedOf = new Map(others.map((other) => [keyOf(other.identity), other]));
  const rows = new Map(run.store.ledger.builds().map((row) => [keyOf(row), row]));
  run.store.ledger.transaction(() => {
    for (const build of builds)
      register(run, build, { found, row: rows.get(keyOf(build)), other: wantedOf.get(keyOf(build)) });
  });
  return builds;
}

function hasConfig({ small }: FoundFiles, { buildConfig }: BuildIdentity): boolean {
  return small.some(({ name }) => name.kind === 'config' && name.hash === buildConfig);
}

/** Brings indices that lack: those of archives that are in the folder, or with `all` every one. @throws E_ABORTED, E_STORE… */
export async function bringIndices(
  run: ImportRun,
  { bring }: BuildSearch,
  { builds, found, all }: { builds: readonly BuildIdentity[]; found: FoundFiles; all: boolean },
): Promise<void> {
  if (bring === undefined || run.settings.dryRun) return;
  const files = new Set(found.large.map(({ name }) => objectPath(name)));
  for (const build of builds) {
    const isWanted = (name: ObjectName): boolean => all || files.has(objectPath({ ...name, suffix: '' }));
    const lacking = indicesOf(run, build).filter((name) => isWanted(name) && !hasSmall(run, name));
    if (lacking.length > 0) await bring(build, lacking);
  }
}

/** Learns which CDN paths are encrypted object by object, and with which key, from the product configs that the tables of a folder name. */
export function learnObjectKeys({ store }: ImportRun, found: FoundFiles, search: BuildSearch): void {
  const files = new Map(found.small.map(({ name, file }) => [`${name.kind} ${name.hash}`, file]));
  for (const { cdnPath, productConfig } of buildsInTables(found, search)) {
    const file = files.get(`product ${productConfig}`);
    const keyName = resultUnless(isPakratError, () => {
      const bytes = file === undefined ? undefined : readPlain(file, mostTableBytes);
      if (bytes === undefined || productConfig === null) return undefined;
      checkObject({ kind: 'product', hash: productConfig }, bytes);
      return decodeProductConfig(bytes).decryptionKeyName;
    });
    if (keyName !== undefined) store.objectKeys.learn(cdnPath, keyName);
  }
}

function buildsInTables({ tables }: FoundFiles, { region }: BuildSearch): BuildIdentity[] {
  return [...tables].flatMap(([product, { versions, cdns }]) => {
    if (versions === undefined || cdns === undefined) return [];
    const bytes = resultUnless(isPakratError, () => ({
      versions: readPlain(versions, mostTableBytes),
      cdns: readPlain(cdns, mostTableBytes),
    }));
    return bytes === undefined ? [] : buildsOfTables(product, bytes, region);
  });
}

function configsOf({ cdnPath, buildConfig, cdnConfig }: BuildIdentity): ObjectName[] {
  return [buildConfig, cdnConfig].map((hash): ObjectName => ({ cdnPath, kind: 'config', hash }));
}

/** Brings the config of a build of which the other one is here: without both nothing tells what else belongs to it. */
async function bringConfig(run: ImportRun, { bring }: BuildSearch, build: BuildIdentity): Promise<void> {
  const lacking = configsOf(build).filter((name) => readSmall(run, name) === undefined);
  if (lacking.length === 1 && !run.settings.dryRun) await bring?.(build, lacking);
}

/** Builds that no table names, by their configs. */
function buildsInConfigs(
  run: ImportRun,
  found: FoundFiles,
  { product, region, known }: BuildSearch & { known: ReadonlySet<string> },
): BuildIdentity[] {
  const indices = new Set(found.small.filter(({ name }) => name.suffix === '.index').map(({ name }) => name.hash));
  const archivesHere = (archives: readonly string[]): number => archives.filter((hash) => indices.has(hash)).length;
  return [...configsByPath(run, found)].flatMap(([cdnPath, configs]) =>
    configs.builds.flatMap((build): BuildIdentity[] => {
      if (known.has(build.key)) return [];
      const name = objectPath({ cdnPath, kind: 'config', hash: build.key });
      const named = build.config.uid ?? product;
      if (named === undefined || !/^[\w.-]+$/.test(named)) {
        run.report.unknown.push({ name, message: 'nothing tells the product of this build: --product' });
        return [];
      }
      const identity = identityOfConfig({ build, product: named, cdnPath, region, configs, archivesHere });
      if (identity === undefined) run.report.unknown.push({ name, message: 'no CDN config for this build is here' });
      return identity === undefined ? [] : [identity];
    }),
  );
}

function configsByPath(run: ImportRun, { small }: FoundFiles): Map<string, FolderConfigs> {
  const byPath = new Map<string, FolderConfigs>();
  for (const { name } of small) {
    if (name.kind !== 'config') continue;
    const bytes = readSmall(run, name);
    const configs = byPath.get(name.cdnPath) ?? noConfigs();
    byPath.set(name.cdnPath, configs);
    if (bytes !== undefined) addConfig(configs, name.hash, bytes);
  }
  return byPath;
}

/** Tells the ledger of a build, and of what is wanted of it. What it knows of one already is more than a folder does. */
function register(
  run: ImportRun,
  build: BuildIdentity,
  { found, row, other }: { found: FoundFiles; row: BuildRow | undefined; other: ForeignBuild | undefined },
): void {
  const { ledger } = run.store;
  const { product, name, buildConfig } = build;
  run.report.builds.push({ product, name, buildConfig });
  if (run.settings.dryRun) return;
  if (row === undefined) ledger.addBuild(build);
  const wanted = other?.selections ?? (isMirrored(run, build, found) ? [everything] : []);
  want(run, { build, row }, wanted);
  if (other?.isPinned) ledger.keeping.pin(build);
}

const nothing = { entries: 0, bytes: 0 };

/** Says what was wanted of a build, beside what else was. What was wanted last, and how much of it is held, stays: it is counted at the end. */
function want(
  { store: { ledger } }: ImportRun,
  { build: { product, buildConfig }, row }: { build: BuildIdentity; row: BuildRow | undefined },
  selections: readonly string[],
): void {
  const { wanted, held } = row ?? { wanted: nothing, held: nothing };
  const known = new Set(ledger.keeping.selections({ product, buildConfig }));
  const news = selections.filter((selection) => !known.has(selection));
  const last = news.length > 0 && row !== undefined && row.selection !== null ? [row.selection] : [];
  for (const selection of [...news, ...last]) ledger.setProgress(product, buildConfig, { selection, wanted, held });
}

const everything = JSON.stringify({ tags: [], include: [], all: true });

/** True when archives of a build lie in the folder, as they do in a mirror. */
function isMirrored(run: ImportRun, { cdnPath, cdnConfig }: BuildIdentity, { large }: FoundFiles): boolean {
  const config = cdnConfigOf(run, cdnPath, cdnConfig);
  const archives = new Set(config === undefined ? [] : archivesOf(cdnPath, config).map(objectPath));
  return large.some(({ name }) => archives.has(objectPath(name)));
}

/** What the configs of a folder, and of the builds that it has, say of the rest of it. */
export function hereBuilds(run: ImportRun, found: FoundFiles, builds: readonly BuildIdentity[]): HereBuilds {
  const archives = new Map<string, ObjectName>();
  const fileIndices = new Map<string, Uint8Array>();
  let knowsLists = true;
  const add = (cdnPath: string, config: CdnConfig): void => {
    for (const name of archivesOf(cdnPath, config)) archives.set(objectPath(name), name);
    const index = config.fileIndex && readSmall(run, indexName(cdnPath, 'data', config.fileIndex));
    if (config.fileIndex && index) fileIndices.set(config.fileIndex, index);
    if (config.fileIndex && !index) knowsLists = false;
  };
  for (const { cdnPath, cdnConfig } of [...builds, ...run.store.ledger.builds()]) {
    const config = cdnConfigOf(run, cdnPath, cdnConfig);
    if (config !== undefined) add(cdnPath, config);
  }
  const listed = new Set(archives.keys());
  for (const [cdnPath, { cdns }] of configsByPath(run, found)) for (const { config } of cdns) add(cdnPath, config);
  return {
    archives: [...archives.values()],
    isListed: (name) => listed.has(objectPath(name)),
    isArchive: (name) => archives.has(objectPath(name)),
    fileIndices: [...fileIndices.values()],
    knowsIndices:
      knowsLists &&
      [...archives.values()].every((name) => name.kind === 'patch' || hasSmall(run, { ...name, suffix: '.index' })),
  };
}

function cdnConfigOf(run: ImportRun, cdnPath: string, hash: string): CdnConfig | undefined {
  const bytes = readSmall(run, { cdnPath, kind: 'config', hash });
  return bytes && resultUnless(isPakratError, () => decodeCdnConfig(bytes));
}

function archivesOf(cdnPath: string, { archives, patchArchives }: CdnConfig): ObjectName[] {
  const name =
    (kind: 'data' | 'patch') =>
    (hash: string): ObjectName => ({ cdnPath, kind, hash });
  return [...archives.map(name('data')), ...patchArchives.map(name('patch'))];
}

/** The indices that a build has: of its archives, and of what lies loose. */
export function indicesOf(run: ImportRun, { cdnPath, cdnConfig }: BuildIdentity): ObjectName[] {
  const config = cdnConfigOf(run, cdnPath, cdnConfig);
  if (config === undefined) return [];
  const lists = config.fileIndex === undefined ? [] : [indexName(cdnPath, 'data', config.fileIndex)];
  return [...archivesOf(cdnPath, config).map((name): ObjectName => ({ ...name, suffix: '.index' })), ...lists];
}
