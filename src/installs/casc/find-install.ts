import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { PakratError } from '../../core/errors.ts';
import { childOf, namesIn } from '../../files/walk.ts';
import { cell, decodeBpsv } from '../../formats/services/bpsv.ts';

/** An installed game, found by its files. */
export interface Install {
  /** Folder of the game. */
  root: string;
  /** The table of what is installed; undefined for a static container. */
  buildInfo: string | undefined;
  /** The build config of a static container. */
  staticConfig: string | undefined;
  /** The product of the folder that was named, where the game has one for each. */
  flavor: string | undefined;
}

/** Containers of the games, below their folder. */
const containers = ['Data', 'Data/casc', 'SC2Data', 'HeroesData', 'Hearthstone_Data', 'BNTData'];
/** A game keeps what it is no deeper than this below the table. */
const maxUp = 3;

/** True for a folder that is an installed game by what lies in it, or its container. */
export function isInstall(path: string): boolean {
  const own = installAt(path) !== undefined;
  return own || (indexFolder(path) !== undefined && installAt(dirname(resolve(path))) !== undefined);
}

/**
 * The installed game that a folder belongs to: its own, or that of a folder above.
 * @throws E_NOT_FOUND when there is none
 */
export function findInstall(path: string): Install {
  let folder = resolve(path);
  const flavorFile = childOf(folder, '.flavor.info');
  const flavor = flavorFile === undefined ? undefined : flavorOf(flavorFile);
  for (let up = 0; up <= maxUp; up++, folder = dirname(folder)) {
    const found = installAt(folder);
    if (found !== undefined) return { ...found, flavor };
  }
  throw new PakratError('E_NOT_FOUND', `${path} is no installed game: there is no .build.info`, {
    hint: 'Name the folder of the game, in which its Data folder lies.',
    data: { path },
  });
}

function installAt(root: string): Omit<Install, 'flavor'> | undefined {
  const buildInfo = childOf(root, '.build.info');
  if (buildInfo !== undefined) return { root, buildInfo, staticConfig: undefined };
  for (const folder of [childOf(root, 'Data'), root]) {
    const staticConfig = folder === undefined ? undefined : childOf(folder, '.build.config');
    if (staticConfig !== undefined) return { root, buildInfo: undefined, staticConfig };
  }
  return undefined;
}

function flavorOf(file: string): string | undefined {
  const row = decodeBpsv(new Uint8Array(fs.readFileSync(file))).rows[0];
  return row && cell(row, 'Product Flavor');
}

/** The folder below the game that has `config` and `data` with indices in it. @throws E_NOT_FOUND */
export function findContainer(root: string): string {
  for (const name of containers) {
    const folder = name.split('/').reduce<string | undefined>((at, part) => at && childOf(at, part), root);
    if (folder !== undefined && indexFolder(folder) !== undefined) return folder;
  }
  throw new PakratError('E_NOT_FOUND', `${root} has no folder with .idx files, such as ${join('Data', 'data')}`, {
    data: { path: root },
  });
}

/** The folder with the indices in a container, or undefined. */
export function indexFolder(container: string): string | undefined {
  const folder = childOf(container, 'data');
  return folder !== undefined && namesIn(folder).some((name) => /\.idx$/i.test(name)) ? folder : undefined;
}

/** What a person would call the game, where nothing in it says. */
export function folderName(root: string): string {
  return basename(root);
}
