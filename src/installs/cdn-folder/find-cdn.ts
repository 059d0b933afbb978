import * as fs from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../../files/walk.ts';

/** True for a folder that holds `config` and `data` as a CDN has them, and is no container of an installation. */
export function isCdnFolder(path: string): boolean {
  const has = (folder: string, isOne: (name: string) => boolean): boolean =>
    namesIn(join(path, folder), isOne).length > 0;
  const hasHashes = has('config', (name) => /^[0-9a-f]{2}$/.test(name)) && fs.existsSync(join(path, 'data'));
  return hasHashes && !has('data', (name) => name.endsWith('.idx'));
}
