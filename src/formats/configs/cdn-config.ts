// The CDN config: which archives, indices and loose files hold the objects of a product.
//
//   archives = KEY KEY …                 names of archives and of their .index files; the place in this list is the number
//                                        that an archive group uses
//   archives-index-size = N N …          size of each .index file, in the order of archives
//   archive-group = KEY                  the name that all indices merged into one must get; not on the CDN
//   file-index = KEY                     index of the objects that lie loose; file-index-size
//   patch-archives, patch-archives-index-size, patch-archive-group, patch-file-index, patch-file-index-size
//   builds = KEY …                       build configs; mostly dropped in 2016
//
// Known from wowdev.wiki (TACT). Any line may be absent.

import { formatError } from '../../core/errors.ts';
import type { Format } from '../format.ts';
import { type ConfigFile, configKey, configSize, decodeConfig } from './config-file.ts';
import { headIsConfig } from './head-is-config.ts';

/** Told by its lines. */
export const cdnConfigFormat: Format = { name: 'CDN config', matches: headIsConfig('archives') };

/** A decoded CDN config; keys are lower-case hex, sizes are bytes. Lists are empty when absent. */
export interface CdnConfig {
  readonly archives: readonly string[];
  /** As many as `archives`, or none. */
  readonly archiveIndexSizes: readonly number[];
  readonly archiveGroup?: string | undefined;
  readonly patchArchives: readonly string[];
  /** As many as `patchArchives`, or none. */
  readonly patchArchiveIndexSizes: readonly number[];
  readonly patchArchiveGroup?: string | undefined;
  readonly fileIndex?: string | undefined;
  readonly fileIndexSize?: number | undefined;
  readonly patchFileIndex?: string | undefined;
  readonly patchFileIndexSize?: number | undefined;
  readonly builds: readonly string[];
  /** All of it, as {@link encodeConfig} writes it. */
  readonly config: ConfigFile;
}

/** Reads a CDN config. Throws E_FORMAT for a key or size that is none, and sizes that are not one an archive. */
export function decodeCdnConfig(bytes: Uint8Array): CdnConfig {
  const config = decodeConfig(bytes);
  const archives = keys(config, 'archives');
  const patchArchives = keys(config, 'patch-archives');
  return {
    archives,
    archiveIndexSizes: sizesAlong(config, 'archives-index-size', archives.length),
    archiveGroup: keys(config, 'archive-group')[0],
    patchArchives,
    patchArchiveIndexSizes: sizesAlong(config, 'patch-archives-index-size', patchArchives.length),
    patchArchiveGroup: keys(config, 'patch-archive-group')[0],
    fileIndex: keys(config, 'file-index')[0],
    fileIndexSize: sizes(config, 'file-index-size')[0],
    patchFileIndex: keys(config, 'patch-file-index')[0],
    patchFileIndexSize: sizes(config, 'patch-file-index-size')[0],
    builds: keys(config, 'builds'),
    config,
  };
}

function keys(config: ConfigFile, line: string): string[] {
  return (config.get(line) ?? []).map((value) => configKey(value, line));
}

function sizes(config: ConfigFile, line: string): number[] {
  return (config.get(line) ?? []).map((value) => configSize(value, line));
}

function sizesAlong(config: ConfigFile, line: string, count: number): number[] {
  const list = sizes(config, line);
  if (list.length !== 0 && list.length !== count) {
    const facts = { expected: count, found: list.length };
    throw formatError('E_FORMAT', 'CDN config', `"${line}" does not run along its archives`, facts);
  }
  return list;
}
