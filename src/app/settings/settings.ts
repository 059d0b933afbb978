import { type Schema, Validator } from '@cfworker/json-schema';
import defaults from '../../../config/default.json' with { type: 'json' };
import schema from '../../../config/schema.json' with { type: 'json' };
import type { ServiceTemplate } from '../../cdn/versions/service-urls.ts';
import { PakratError } from '../../core/errors.ts';

/** Every setting; defaults, bounds and meanings are in config/default.json and config/schema.json. */
export interface Settings {
  region: string;
  locale: string;
  regions: string[];
  versionServices: ServiceTemplate[];
  network: {
    connectMs: number;
    idleMs: number;
    slowWindowMs: number;
    hedgeMs: number;
    versionServiceMs: number;
    attemptsPerHost: number;
    prefer: 'https' | 'http';
    mirrors: string[];
  };
  sync: {
    jobs: number;
    smallJobs: number;
    gapBytes: number;
    maxRangeBytes: number;
    patchGapBytes: number;
    patchMaxBytes: number;
  };
  keys: {
    url: string;
  };
  listfile: {
    url: string;
  };
}

/** Settings of which any may be left out. */
export type PartialSettings = {
  [Name in keyof Settings]?: Settings[Name] extends unknown[] | string ? Settings[Name] : Partial<Settings[Name]>;
};

interface SettingsLayer {
  name: string;
  settings: unknown;
}

const validator = new Validator(schema as Schema, '2020-12');

/**
 * The defaults with some layers over them, later ones over earlier ones. Lists are replaced whole.
 * @throws E_USAGE for a layer that holds what is no setting
 */
export function mergeSettings(...layers: readonly SettingsLayer[]): Settings {
  const merged: Record<string, unknown> = {};
  for (const { name, settings } of [{ name: 'config/default.json', settings: defaults }, ...layers]) {
    const layer = checkSettings(name, settings);
    for (const [setting, value] of Object.entries(layer)) merged[setting] = over(merged[setting], value);
  }
  const { $schema: _, ...settings } = merged;
  return settings as unknown as Settings;
}

/** A setting that holds. */
export interface SettingRow {
  /** With the group that it is in: `sync.jobs`. */
  name: string;
  value: unknown;
  /** The name of the layer that it comes from. */
  from: string;
}

/** Every setting with its value, and the layer that it comes from. @throws E_USAGE as {@link mergeSettings} */
export function listSettings(...layers: readonly SettingsLayer[]): SettingRow[] {
  const merged = mergeSettings(...layers);
  const origins = new Map<string, string>();
  for (const { name, settings } of layers) for (const [path] of leaves(settings as object)) origins.set(path, name);
  return leaves(merged).map(([name, value]) => ({ name, value, from: origins.get(name) ?? 'default' }));
}

/** Settings of groups, and those without one, by their paths. */
function leaves(settings: object): [path: string, value: unknown][] {
  return Object.entries(settings).flatMap(([name, value]) =>
    isGroup(value)
      ? Object.entries(value).map(([member, one]): [string, unknown] => [`${name}.${member}`, one])
      : [[name, value]],
  );
}

/** What config/schema.json allows of settings, without members that are undefined. @throws E_USAGE that names the first that it forbids */
function checkSettings(name: string, settings: unknown): object {
  const plain: unknown = JSON.parse(JSON.stringify(settings));
  const problem = validator.validate(plain).errors.at(-1);
  if (problem === undefined) return plain as object;
  const setting = problem.instanceLocation.slice('#/'.length).replaceAll('/', '.');
  const what = problem.keyword === 'false' ? `there is no setting ${setting}` : `${setting}: ${problem.error}`;
  throw new PakratError('E_USAGE', `${name}: ${what}`, {
    hint: 'config/schema.json says what every setting may be.',
    data: { file: name, setting },
  });
}

/** A value over another: groups of settings are joined, anything else is replaced. */
function over(below: unknown, above: unknown): unknown {
  return isGroup(below) && isGroup(above) ? { ...below, ...above } : above;
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
