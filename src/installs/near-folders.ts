import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isPakratError, resultUnless } from '../core/errors.ts';
import { folderEntries } from '../files/read-at.ts';
import { isInstall } from './casc/find-install.ts';
import { isCdnFolder } from './cdn-folder/find-cdn.ts';

/** Levels below a folder that are looked at, and folders at most: a CDN path has two parts, and a web root may stand above it. */
const mostLevels = 3;
const mostFolders = 500;
const mostNamed = 4;

/** The sources that a person may have meant with a folder that is none: it is a store, or they lie in it or above it. Undefined when there are none. */
export function nearSources(path: string): string | undefined {
  const found = sourceAbove(path) ?? sourcesBelow(path);
  const names = found.slice(0, mostNamed).join(' or ');
  if (fs.existsSync(join(path, 'ledger.db'))) {
    const part = found.length === 0 ? '' : `, or a part of it: ${names}`;
    return `It is a store of pakrat: name a product, with --store ${path}${part}.`;
  }
  return found.length === 0 ? undefined : `Did you mean ${names}?`;
}

/** Folders below one that are sources, in the order of their depth. */
function sourcesBelow(path: string): string[] {
  const found: string[] = [];
  let level = [path];
  let looked = 0;
  for (let depth = 0; depth < mostLevels; depth++) {
    const below = level.flatMap((folder) => foldersIn(folder));
    level = [];
    for (const folder of below) {
      looked += 1;
      if (looked > mostFolders) return found;
      if (isCdnFolder(folder) || isInstall(folder)) found.push(folder);
      else level.push(folder);
    }
  }
  return found;
}

function foldersIn(path: string): string[] {
  const found: string[] = [];
  const look = (): void => {
    for (const entry of folderEntries(path)) if (entry.isDirectory()) found.push(join(path, entry.name));
  };
  resultUnless(isPakratError, look);
  return found;
}

/** The folder above one that holds the data of a container (`Data/data`) or its configs, where that is an installed game or laid out as a CDN. */
function sourceAbove(path: string): [string] | undefined {
  if (!/^(?:data|config|indices|patch)$/i.test(basename(resolve(path)))) return undefined;
  const above = dirname(resolve(path));
  return isCdnFolder(above) || isInstall(above) ? [above] : undefined;
}
