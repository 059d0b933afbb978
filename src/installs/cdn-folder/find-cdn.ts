import * as fs from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../../files/walk.ts';

/** True for a folder that holds `config` and `data` as a CDN has them, and is no container of an installation. */
export function isCdnFolder(path: string): boolean {
  const names = (folder: string): string[] => namesIn(join(path, folder));
  const hasHashes = names('config').some((name) => /^[0-9a-f]{2}$/.test(name)) && fs.existsSync(join(path, 'data'));
  return hasHashes && !names('data').some((name) => name.endsWith('.idx'));
}
