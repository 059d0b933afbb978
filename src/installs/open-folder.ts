import { statSync } from 'node:fs';
import { PakratError } from '../core/errors.ts';
import { findInstall } from './casc/find-install.ts';
import { openInstall } from './casc/open-install.ts';
import { openCdnFolder } from './cdn-folder/open-cdn-folder.ts';
import type { FolderBuild } from './folder-build.ts';
import { openStatic } from './static/open-static.ts';

/**
 * Opens the build of an installed game or of a folder in the layout of a CDN. The folder is only read. Needs `close`.
 * @param choice the build that is meant, where the folder holds several
 * @throws E_NOT_FOUND, E_USAGE when several builds are meant, E_FORMAT…
 */
export function openFolder(kind: 'casc' | 'cdn', path: string, choice: string | undefined): FolderBuild {
  demandFolder(path);
  if (kind === 'cdn') return openCdnFolder(path, choice);
  const install = findInstall(path);
  return install.form === 'static' ? openStatic(install, path) : openInstall(install, path, choice);
}

/** @throws E_NOT_FOUND for what is no folder */
export function demandFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new PakratError('E_NOT_FOUND', `there is no folder ${path}`, { data: { path } });
}
