import * as fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { PakratError } from '../../core/errors.ts';
import { childOf, childrenOf, namesIn } from '../../files/walk.ts';
import { cell, decodeBpsv } from '../../formats/services/bpsv.ts';

/** An installed game, found by its files. */
export interface Install {
  /** Folder of the game. */
  root: string;
  /** Told by `.build.info`, or a static container, told by the build config in it. */
  form: 'indexed' | 'static';
  /** The path of that file. */
  file: string;
  /** The product of the folder that was named, where the game has one for each. */
  flavor: string | undefined;
}

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
  const [buildInfo, data, buildConfig] = childrenOf(root, ['.build.info', 'Data', '.build.config']);
  if (buildInfo !== undefined) return { root, form: 'indexed', file: buildInfo };
  const file = (data && childOf(data, '.build.config')) ?? buildConfig;
  return file === undefined ? undefined : { root, form: 'static', file };
}

function flavorOf(file: string): string | undefined {
  if (!fs.statSync(file).isFile()) return undefined;
  const row = decodeBpsv(new Uint8Array(fs.readFileSync(file))).rows[0];
  return row && cell(row, 'Product Flavor');
}

/** The folder below the game that has `config`, and `data` with the indices in it. @throws E_NOT_FOUND */
export function findContainer(root: string): { container: string; data: string } {
  for (const name of containers) {
    const container = name.split('/').reduce<string | undefined>((at, part) => at && childOf(at, part), root);
    const data = container && indexFolder(container);
    if (container !== undefined && data !== undefined) return { container, data };
  }
  throw new PakratError('E_NOT_FOUND', `${root} has no folder with .idx files, such as ${join('Data', 'data')}`, {
    data: { path: root },
  });
}

/** The folder with the indices in a container, or undefined. */
function indexFolder(container: string): string | undefined {
  const folder = childOf(container, 'data');
  return folder !== undefined && namesIn(folder, (name) => /\.idx$/i.test(name)).length > 0 ? folder : undefined;
}
