import * as fs from 'node:fs';
import { join } from 'node:path';
import { decodeCdnConfig } from '../formats/configs/cdn-config.ts';
import { decodeArchiveIndex } from '../formats/indices/archive-index.ts';
import { cell, decodeBpsv } from '../formats/services/bpsv.ts';
import { objectPath } from '../store/layout.ts';
import type { CdnFolder, EarlierObjects } from './archive-writer.ts';

/** A build that was published before, as far as the next one needs it. */
export interface EarlierBuild extends EarlierObjects {
  /** The builds that its CDN config names, newest first. */
  builds: readonly string[];
}

const noBuild: EarlierBuild = { indices: [], loose: [], builds: [] };

/**
 * Finds the live build of a product in a folder, whose objects a further build shares. One that was published under another path has none there.
 * @throws E_FORMAT, E_INTEGRITY for a table, config or index that is damaged; errors of the file system as they come
 */
export function findEarlierBuild({ out, cdnPath }: CdnFolder, product: string): EarlierBuild {
  const versions = readIfThere(join(out, product, 'versions'));
  const cdnConfig = versions && cell(decodeBpsv(versions).rows[0] ?? {}, 'CDNConfig');
  const config = cdnConfig && readIfThere(join(out, objectPath({ cdnPath, kind: 'config', hash: cdnConfig })));
  if (!config) return noBuild;
  const { archives, fileIndex, builds } = decodeCdnConfig(config);
  const index = (name: string): { name: string; bytes: Uint8Array } => {
    const path = objectPath({ cdnPath, kind: 'data', hash: name, suffix: '.index' });
    return { name, bytes: new Uint8Array(fs.readFileSync(join(out, path))) };
  };
  const loose = fileIndex === undefined ? [] : [...decodeArchiveIndex(index(fileIndex).bytes, fileIndex)];
  return { indices: archives.map(index), loose, builds };
}

function readIfThere(path: string): Uint8Array | undefined {
  return fs.existsSync(path) ? new Uint8Array(fs.readFileSync(path)) : undefined;
}
