import * as fs from 'node:fs';
import { sep } from 'node:path';
import { messageOf, PakratError, throwIfAborted } from '../../core/errors.ts';
import { addAll } from '../../core/tables/add-all.ts';
import { forgetLost } from '../../fetch/lost-files.ts';
import { hasObject } from '../../fetch/small-objects.ts';
import { demandFolder } from '../../installs/open-folder.ts';
import { objectPath } from '../../store/layout.ts';
import type { BuildIdentity } from '../../store/ledger/rows.ts';
import type { Store } from '../../store/store.ts';
import type { BuildOpener } from '../build-opener.ts';
import { countBuilds } from './count-builds.ts';
import { type ForeignStore, openForeignStore } from './find/foreign-store.ts';
import { type FoundFile, type FoundFiles, findFiles } from './find/found-files.ts';
import { fragmentFiles } from './find/fragment-files.ts';
import {
  type BuildSearch,
  bringIndices,
  findBuilds,
  type HereBuilds,
  hereBuilds,
  indicesOf,
  learnObjectKeys,
} from './find/register-builds.ts';
import { type InstalledGame, openGame, takeLooseEntries } from './import-install.ts';
import type { ImportReport } from './import-report.ts';
import { ImportRun, type ImportSettings } from './import-run.ts';
import { takeScattered } from './take/scattered-entries.ts';
import { type EntryWork, takeEntries } from './take/take-entries.ts';
import { takeSmallLoose } from './take/take-loose.ts';
import { takeObject } from './take/take-objects.ts';
import { hasSmall, readSmall, takeSmall } from './take/take-small.ts';
import { takeWholeInThreads } from './take/take-whole.ts';

/** What an import needs to know beside the folder. */
export interface ImportOptions extends ImportSettings, BuildSearch {
  /** The CDN path of objects in folders that do not tell theirs. */
  cdnPath?: string | undefined;
  /** Opens builds, to count what is held of them then. */
  opener?: BuildOpener | undefined;
}

/**
 * Takes what lies in a folder into the store, all of it checked: a folder in the layout of a CDN or several of them, an older mirror, another
 * store, an installed game. Nothing in the folder is changed. Safe to end at any moment: the next run goes on.
 * @throws E_NOT_FOUND when there is nothing to take, E_USAGE when nothing tells where it belongs, E_ABORTED, E_STORE…
 */
export async function importFolder(store: Store, folder: string, options: ImportOptions): Promise<ImportReport> {
  demandFolder(folder);
  const root = fs.realpathSync(folder);
  const own = fs.realpathSync(store.layout.root);
  if (`${root}${sep}`.startsWith(`${own}${sep}`)) {
    throw new PakratError('E_USAGE', `${folder} is the store itself, or a part of it`, { data: { path: folder } });
  }
  const run = new ImportRun(store, folder, options);
  const game = openGame(root, options);
  const other = game === undefined ? openForeignStore(root, run.report) : undefined;
  try {
    if (other !== undefined) run.claimsOf = other.claimsOf;
    other?.giveObjectKeys(store);
    const found = await findFiles(game?.configs ?? root, {
      cdnPaths: [...cdnPathsOf(store), ...(other?.builds.map(({ identity }) => identity.cdnPath) ?? [])],
      fallback: game?.builds[0]?.cdnPath ?? options.cdnPath,
      except: own,
      isStore: other !== undefined,
      signal: options.signal,
    });
    demandObjects(folder, found, game);
    await takeAll(run, options, { found, game, other });
    if (!options.dryRun) other?.giveAnswers(store);
    return run.report;
  } finally {
    other?.close();
    game?.entries.close();
  }
}

function cdnPathsOf({ ledger }: Store): string[] {
  return ledger.builds().map(({ cdnPath }) => cdnPath);
}

function demandObjects(folder: string, found: FoundFiles, game: InstalledGame | undefined): void {
  const { small, large, fragments, nameless, unread } = found;
  const own = small.filter(({ name }) => name.kind !== 'product' || nameless.size === 0);
  if (own.length + large.length + fragments.length + unread.length > 0 || game !== undefined) return;
  const [first] = nameless;
  if (first === undefined) {
    throw new PakratError('E_NOT_FOUND', `${folder} holds no object of a CDN`, {
      hint: 'Name a folder that holds config and data as a CDN has them, a store, or the folder of an installed game.',
      data: { path: folder },
    });
  }
  throw new PakratError('E_USAGE', `nothing tells the CDN path of the objects in ${first}`, {
    hint: 'Say it with --cdn-path, such as --cdn-path tpr/wow (`pakrat cdns PRODUCT` shows it), or name the product with --product.',
    data: { path: first },
  });
}

interface Folder {
  found: FoundFiles;
  game: InstalledGame | undefined;
  other: ForeignStore | undefined;
}

async function takeAll(run: ImportRun, options: ImportOptions, { found, game, other }: Folder): Promise<void> {
  const { report } = run;
  learnObjectKeys(run, found, options);
  for (const { cdnPath, keyName } of game?.keyNames ?? []) run.store.objectKeys.learn(cdnPath, keyName);
  const files = [...found.small, ...(game?.indices ?? []), ...found.large, ...found.fragments];
  run.total = files.reduce((sum, { size }) => sum + size, game?.storage.amount().bytes ?? 0);
  report.others = game === undefined ? found.others : 0;
  for (const name of found.links) report.unknown.push({ name, message: 'it is a link, which is not followed' });
  for (const { name, error } of found.unread)
    run.damaged.add({ name, code: 'E_INTEGRITY', message: `it cannot be read: ${messageOf(error)}` });
  for (const name of found.nameless)
    report.unknown.push({ name, message: 'nothing tells the CDN path of its objects: --cdn-path' });
  // Configs say what the rest is, and indices what the archives are.
  const isConfig = ({ name }: FoundFile): boolean => name.suffix !== '.index';
  const configs = found.small.filter(isConfig);
  await takeSmall(run, configs);
  const brought = configs.filter(({ name }) => hasObject(run.store, name));
  const ofGame = (game?.builds ?? []).map((identity) => ({ identity, selections: [], isPinned: false }));
  const builds = await findBuilds(run, options, { found, others: [...(other?.builds ?? []), ...ofGame] });
  // What was given back until the ledger knew these builds comes again: from now on it stays.
  const again = brought.filter(({ name }) => !hasObject(run.store, name));
  await takeSmall(run, [...again, ...found.small.filter((file) => !isConfig(file))]);
  await takeSmall(run, namedIndices(run, game?.indices ?? [], builds));
  await bringIndices(run, options, { builds, found, all: game !== undefined || found.fragments.length > 0 });
  const here = hereBuilds(run, found, builds);
  // A dry run as well, as that of a sync: what is not there is not held, whatever the ledger says.
  if (run.store.writable)
    forgetLost(run.store, new Set([...found.large.map(({ name }) => name), ...here.archives].map(objectPath)));
  const later = await takeLarge(run, found.large, here);
  if (found.fragments.length > 0) addAll(later, await takeFragments(run, found.fragments, here));
  if (game !== undefined) {
    const known = new Set(builds.map(({ buildConfig }) => buildConfig));
    const knowsPlaces = here.knowsIndices && game.builds.every(({ buildConfig }) => known.has(buildConfig));
    addAll(later, await takeGame(run, game, { here, knowsPlaces }));
  }
  await takeLater(run, later);
  if (options.opener !== undefined && !options.dryRun) await countBuilds(run, options.opener, builds);
}

/** The indices of an install that its builds name, under those names; the client keeps others. */
function namedIndices(run: ImportRun, files: readonly FoundFile[], builds: readonly BuildIdentity[]): FoundFile[] {
  if (files.length === 0) return [];
  const names = new Map(builds.flatMap((build) => indicesOf(run, build)).map((name) => [name.hash, name]));
  return files.flatMap((file) => {
    const name = names.get(file.name.hash);
    if (name === undefined) run.pass(file.size);
    return name === undefined ? [] : [{ ...file, name }];
  });
}

async function takeLarge(run: ImportRun, files: readonly FoundFile[], here: HereBuilds): Promise<EntryWork[]> {
  const indexed = new Set(files.filter(({ name }) => hasSmall(run, { ...name, suffix: '.index' })));
  const isArchive = (file: FoundFile): boolean => indexed.has(file) || here.isArchive(file.name);
  const taken = new Set<FoundFile>();
  const left = (): FoundFile[] => files.filter((file) => !taken.has(file));
  const add = (more: Iterable<FoundFile>): void => {
    for (const file of more) taken.add(file);
  };
  const patches = files.filter((file) => file.name.kind === 'patch' && !isArchive(file));
  await takeSmall(run, patches);
  add(patches);
  add(
    await takeSmallLoose(
      run,
      left().filter((file) => !isArchive(file)),
    ),
  );
  add(
    await takeWholeInThreads(
      run,
      left().filter((file) => !isArchive(file) || indexed.has(file)),
    ),
  );
  run.report.unlisted += [...indexed].filter(({ name }) => !here.isListed(name)).length;
  const later: EntryWork[] = [];
  for (const file of left()) {
    throwIfAborted(run.settings.signal);
    const { name } = file;
    const index = readSmall(run, { ...name, suffix: '.index' });
    if (index === undefined && here.isArchive(name)) {
      run.report.unknown.push({ name: objectPath(name), message: 'it is an archive, and its index is not here' });
      run.pass(file.size);
    } else {
      const work = await takeObject(run, file, index);
      if (work !== undefined) later.push(work);
    }
  }
  return later;
}

/** Entries in a file each belong into their archives. */
async function takeFragments(run: ImportRun, files: readonly FoundFile[], here: HereBuilds): Promise<EntryWork[]> {
  const placed = new Set<string>();
  const entries = fragmentFiles(files);
  try {
    return await takeScattered(run, entries, { archives: here.archives, onPlaced: (ekey) => placed.add(ekey) });
  } finally {
    entries.close();
    const left = files.filter(({ name }) => !placed.has(name.hash));
    for (const { size } of left) run.pass(size);
    const [first] = left;
    const message = `no index that is here has this entry${left.length > 1 ? `, and ${left.length - 1} more like it` : ''}`;
    if (first !== undefined) run.report.unknown.push({ name: first.file, message });
  }
}

const keyDigits = 18;

async function takeGame(
  run: ImportRun,
  game: InstalledGame,
  { here, knowsPlaces }: { here: HereBuilds; knowsPlaces: boolean },
): Promise<EntryWork[]> {
  const placed = new Set<string>();
  const onPlaced = (ekey: string): void => void placed.add(ekey.slice(0, keyDigits));
  const later = await takeScattered(run, game.entries, { archives: here.archives, onPlaced });
  for (const message of game.storage.notes) run.report.unknown.push({ name: game.storage.folder, message });
  const left = game.storage.amount().entries - placed.size;
  if (!knowsPlaces && left > 0) {
    const message = `${left} of its entries may be of archives whose indices are not here: import it once with a network`;
    run.report.unknown.push({ name: game.storage.folder, message });
    return later;
  }
  const isPlaced = (ekey: string): boolean => placed.has(ekey);
  addAll(later, await takeLooseEntries(run, game, { isPlaced, lists: here.fileIndices }));
  return later;
}

/** Goes on with what another process fetched: it has it by now, or left it. */
async function takeLater(run: ImportRun, works: readonly EntryWork[]): Promise<void> {
  for (let later = [...works]; later.length > 0; ) {
    await run.waiting.moment();
    const left: EntryWork[] = [];
    for (const work of later) {
      const again = await takeEntries(run, work);
      if (again !== undefined) left.push(again);
    }
    later = left;
  }
}
