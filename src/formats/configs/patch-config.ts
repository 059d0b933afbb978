// The patch config: how the manifests of a build are patched from those of earlier builds. Not the patch manifest.
//
//   patch = KEY                           the patch manifest; patch-size
//   patch-entry = TYPE CKEY SIZE EKEY ENCODEDSIZE ESPEC (OLDEKEY OLDSIZE PATCHEKEY PATCHSIZE)…
//                                         once for encoding, install, download, size, …
//
// Known from wowdev.wiki (TACT) and public copies of real configs.

import { formatError } from '../../core/errors.ts';
import type { Format } from '../format.ts';
import { type ConfigEntry, type ConfigFile, configKey, configSize, decodeConfig, encodeConfig } from './config-file.ts';
import { headIsConfig } from './head-is-config.ts';

/** Told by its lines. */
export const patchConfigFormat: Format = { name: 'patch config', matches: headIsConfig('patch-entry') };

/** One way from an earlier object to the new one. */
export interface ConfigPatch {
  /** Encoding key of the earlier object. */
  readonly sourceEkey: string;
  /** Its decoded size. */
  readonly sourceSize: number;
  readonly patchEkey: string;
  readonly patchSize: number;
}

/** A manifest of the build, and the patches that lead to it. */
export interface PatchConfigEntry {
  /** encoding, install, download, size, … */
  readonly type: string;
  readonly ckey: string;
  readonly size: number;
  readonly ekey: string;
  readonly encodedSize: number;
  /** The encoding of the object; empty when the line does not say. */
  readonly espec: string;
  readonly patches: readonly ConfigPatch[];
}

/** A patch config to write. */
export interface PatchConfigContent {
  /** Name of the patch manifest. */
  readonly patch?: string | undefined;
  readonly patchSize?: number | undefined;
  readonly entries: readonly PatchConfigEntry[];
}

/** A decoded patch config. */
export interface PatchConfig extends PatchConfigContent {
  /** All of it, as {@link encodeConfig} writes it. */
  readonly config: ConfigFile;
}

/** Reads a patch config. @throws E_FORMAT when it is no config, or an entry is not as above */
export function decodePatchConfig(bytes: Uint8Array): PatchConfig {
  const config = decodeConfig(bytes);
  const patch = config.get('patch')?.[0];
  const patchSize = config.get('patch-size')?.[0];
  return {
    patch: patch === undefined ? undefined : configKey(patch, 'patch'),
    patchSize: patchSize === undefined ? undefined : configSize(patchSize, 'patch-size'),
    entries: config.all('patch-entry').map(decodeEntry),
    config,
  };
}

/**
 * Writes a patch config out of its values. Lines that have no name here are not in them, nor the order of the lines: a config that
 * was read is written as it was by {@link encodeConfig}, of its `config`.
 * @throws E_FORMAT_RANGE for patches without an espec, which no line can say
 */
export function encodePatchConfig({ patch, patchSize, entries }: PatchConfigContent): Uint8Array {
  const lines = [
    ...(patch === undefined ? [] : [{ key: 'patch', values: [patch] }]),
    ...(patchSize === undefined ? [] : [{ key: 'patch-size', values: [String(patchSize)] }]),
    ...entries.map(encodeEntry),
  ];
  return encodeConfig({ entries: lines, title: 'Patch Configuration' });
}

function encodeEntry({ type, ckey, size, ekey, encodedSize, espec, patches }: PatchConfigEntry): ConfigEntry {
  if (espec === '' && patches.length > 0) {
    throw formatError('E_FORMAT_RANGE', 'patch config', `patches of ${type} need an espec before them`);
  }
  const values = [type, ckey, size, ekey, encodedSize, espec];
  for (const { sourceEkey, sourceSize, patchEkey, patchSize } of patches) {
    values.push(sourceEkey, sourceSize, patchEkey, patchSize);
  }
  return { key: 'patch-entry', values: values.filter((value) => value !== '').map(String) };
}

function decodeEntry(values: readonly string[]): PatchConfigEntry {
  const [type = '', ckey = '', size = '', ekey = '', encodedSize = '', espec = '', ...rest] = values;
  if (values.length < 5) {
    const facts = { expected: '5 values', found: values.length };
    throw formatError('E_FORMAT', 'patch config', 'patch-entry is cut short', facts);
  }
  const line = `patch-entry ${type}`;
  return {
    type,
    ckey: configKey(ckey, line),
    size: configSize(size, line),
    ekey: configKey(ekey, line),
    encodedSize: configSize(encodedSize, line),
    espec,
    patches: decodePatches(rest, line),
  };
}

function decodePatches(values: readonly string[], line: string): ConfigPatch[] {
  if (values.length % 4 !== 0) {
    const facts = { expected: 'patches of 4 values', found: values.length };
    throw formatError('E_FORMAT', 'patch config', `"${line}" is cut short`, facts);
  }
  const patches: ConfigPatch[] = [];
  for (let i = 0; i < values.length; i += 4) {
    const [sourceEkey = '', sourceSize = '', patchEkey = '', patchSize = ''] = values.slice(i, i + 4);
    patches.push({
      sourceEkey: configKey(sourceEkey, line),
      sourceSize: configSize(sourceSize, line),
      patchEkey: configKey(patchEkey, line),
      patchSize: configSize(patchSize, line),
    });
  }
  return patches;
}
