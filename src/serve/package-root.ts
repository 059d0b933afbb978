import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PakratError } from '../core/errors.ts';

/**
 * The folder of this package: the one that holds `config/` and `data/`. Found from this file upwards,
 * because the sources lie at `src/` and the build of them at `dist/`.
 * @throws E_USAGE when the installation lacks its settings
 */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'config', 'default.json'))) {
    const parent = dirname(folder);
    if (parent === folder) {
      throw new PakratError('E_USAGE', 'this installation of pakrat has no config/default.json', {
        hint: 'Install it again.',
      });
    }
    folder = parent;
  }
  return folder;
}
