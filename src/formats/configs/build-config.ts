// The build config: which objects make up one build.
//
//   root = CKEY                                   old builds, and root until today: by content key, look the ekey up in encoding
//   encoding = CKEY EKEY                          the one that must be there
//   encoding-size = DECODED ENCODED               the second size is missing where the ekey is
//   vfs-root, vfs-1 … vfs-N                       TVFS manifests, each with its -size
//   build-partial-priority = CKEY:BLOCK …         contents that an install fetches before all else, in this order, in blocks of so many bytes
//   partial-priority = CKEY                       builds of 2016: a download manifest of such contents; its size is given as 0
//   build-name, build-uid, build-product          WOW-65989patch1.15.8_ClassicRetail, wow_classic_era, WoW
//
// Known from wowdev.wiki (TACT) and checked on real configs of 2017 to 2026; the priorities on public copies of configs of 2016 and 2017.

import { formatError } from '../../core/errors.ts';
import type { Format } from '../format.ts';
import { type ConfigEntry, type ConfigFile, configKey, configSize, decodeConfig } from './config-file.ts';
import { headIsConfig } from './head-is-config.ts';

/** Told by its lines. */
export const buildConfigFormat: Format = { name: 'build config', matches: headIsConfig('encoding', 'root') };

/** The keys of a manifest, lower-case hex, and its sizes in bytes. */
export interface ManifestKeys {
  readonly ckey: string;
  /** Missing in old builds: find it in encoding. */
  readonly ekey?: string | undefined;
  readonly size?: number | undefined;
  readonly encodedSize?: number | undefined;
}

/** A content that an install fetches before all else. */
export interface PartialPriority {
  /** Lower-case hex. */
  readonly ckey: string;
  /** Bytes to fetch at a time. */
  readonly blockSize: number;
}

/** A decoded build config. Manifests that are absent, or whose key is all zeros, are undefined. */
export interface BuildConfig {
  /** `build-name`; empty when the config has none. */
  readonly name: string;
  /** `build-uid`: the product code (wow_classic_era). */
  readonly uid?: string | undefined;
  /** `build-product`: the family (WoW). */
  readonly product?: string | undefined;
  readonly root?: ManifestKeys | undefined;
  readonly install?: ManifestKeys | undefined;
  readonly download?: ManifestKeys | undefined;
  readonly size?: ManifestKeys | undefined;
  readonly encoding: ManifestKeys;
  readonly patch?: ManifestKeys | undefined;
  /** Name of the patch config. */
  readonly patchConfig?: string | undefined;
  readonly patchIndex?: ManifestKeys | undefined;
  readonly vfsRoot?: ManifestKeys | undefined;
  /** vfs-1, vfs-2, … in the order of their numbers. */
  readonly vfs: readonly ManifestKeys[];
  /** All of it, for keys that are not named here, and as {@link encodeConfig} writes it. */
  readonly config: ConfigFile;
}

const zeroKey = '0'.repeat(32);

/** Reads a build config. Throws E_FORMAT when it is none, names no encoding file, or a key or size is none. */
export function decodeBuildConfig(bytes: Uint8Array): BuildConfig {
  const config = decodeConfig(bytes);
  const encoding = manifestKeys(config, 'encoding');
  if (encoding === undefined) throw formatError('E_FORMAT', 'build config', 'it names no encoding file');
  return {
    name: config.get('build-name')?.join(' ') ?? '',
    uid: config.get('build-uid')?.[0],
    product: config.get('build-product')?.join(' '),
    root: manifestKeys(config, 'root'),
    install: manifestKeys(config, 'install'),
    download: manifestKeys(config, 'download'),
    size: manifestKeys(config, 'size'),
    encoding,
    patch: manifestKeys(config, 'patch'),
    patchConfig: manifestKeys(config, 'patch-config')?.ckey,
    patchIndex: manifestKeys(config, 'patch-index'),
    vfsRoot: manifestKeys(config, 'vfs-root'),
    vfs: numberedVfs(config),
    config,
  };
}

function manifestKeys(config: ConfigFile, name: string): ManifestKeys | undefined {
  const [ckeyText, ekeyText] = config.get(name) ?? [];
  const ckey = ckeyText === undefined ? zeroKey : configKey(ckeyText, name);
  if (ckey === zeroKey) return undefined;
  const [size, encodedSize] = (config.get(`${name}-size`) ?? []).map((value) => configSize(value, `${name}-size`));
  return { ckey, ekey: ekeyText === undefined ? undefined : configKey(ekeyText, name), size, encodedSize };
}

/** The contents that an install of a build fetches before all else. */
export interface PartialPriorities {
  /** `build-partial-priority`, most urgent first. */
  readonly contents: readonly PartialPriority[];
  /** `partial-priority`: a manifest in place of the list. */
  readonly manifest?: ManifestKeys | undefined;
}

/**
 * Reads what an install fetches first. It is apart from {@link decodeBuildConfig}: a build is read without it, whatever these lines are.
 * @throws E_FORMAT for a value that is no key with a size behind it
 */
export function decodePartialPriorities(config: ConfigFile): PartialPriorities {
  const line = 'build-partial-priority';
  const contents = (config.get(line) ?? []).flatMap((value) =>
    value.split(',').map((pair): PartialPriority => {
      const [ckey = '', blockSize = '', ...more] = pair.split(':');
      return { ckey: configKey(ckey, line), blockSize: configSize(more.length > 0 ? '' : blockSize, line) };
    }),
  );
  return { contents, manifest: manifestKeys(config, 'partial-priority') };
}

/** The lines of a config that say what to fetch first: the mirror of {@link decodePartialPriorities}. */
export function encodePartialPriorities({ contents, manifest }: PartialPriorities): ConfigEntry[] {
  const pairs = contents.map(({ ckey, blockSize }) => `${ckey}:${blockSize}`);
  const lines: ConfigEntry[] = pairs.length === 0 ? [] : [{ key: 'build-partial-priority', values: pairs }];
  if (manifest === undefined) return lines;
  const { ckey, ekey, size, encodedSize } = manifest;
  const line = (key: string, ...values: (string | number | undefined)[]): ConfigEntry => ({
    key,
    values: values.filter((value) => value !== undefined).map(String),
  });
  lines.push(line('partial-priority', ckey, ekey));
  if (size !== undefined) lines.push(line('partial-priority-size', size, encodedSize));
  return lines;
}

function numberedVfs(config: ConfigFile): ManifestKeys[] {
  return config.entries
    .map(({ key }) => /^vfs-(\d{1,9})$/.exec(key))
    .filter((match) => match !== null)
    .sort((a, b) => Number(a[1]) - Number(b[1]))
    .map(([key]) => manifestKeys(config, key))
    .filter((keys) => keys !== undefined);
}
