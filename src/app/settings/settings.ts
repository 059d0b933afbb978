import defaults from '../../../config/default.json' with { type: 'json' };
import type { ServiceTemplate } from '../../cdn/versions/service-urls.ts';

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
    httpProxy: string;
    httpsProxy: string;
    noProxy: string;
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
  settings: PartialSettings;
}

/** The defaults with some settings over them, which `checkSettings` has let pass, later ones over earlier ones. Lists are replaced whole. */
export function mergeSettings(...layers: readonly PartialSettings[]): Settings {
  const merged: Record<string, unknown> = {};
  for (const settings of [defaults, ...layers.map(withoutUndefined)]) {
    for (const [setting, value] of Object.entries(settings)) merged[setting] = over(merged[setting], value);
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

/** Every setting with its value, and the layer that it comes from; of a proxy without the name and password that it is told. */
export function listSettings(...layers: readonly SettingsLayer[]): SettingRow[] {
  const merged = mergeSettings(...layers.map(({ settings }) => settings));
  const origins = new Map<string, string>();
  for (const { name, settings } of layers) for (const [path] of leaves(settings as object)) origins.set(path, name);
  const shown = (name: string, value: unknown): unknown =>
    name.endsWith('Proxy') ? String(value).replace(/^([a-z\d]+:\/\/)?.*@/i, '$1') : value;
  return leaves(merged).map(([name, value]) => ({
    name,
    value: shown(name, value),
    from: origins.get(name) ?? 'default',
  }));
}

/** Settings of groups, and those without one, by their paths. */
function leaves(settings: object): [path: string, value: unknown][] {
  return Object.entries(settings).flatMap(([name, value]) =>
    isGroup(value)
      ? Object.entries(value).map(([member, one]): [string, unknown] => [`${name}.${member}`, one])
      : [[name, value]],
  );
}

/** Settings as a JSON file would have them: a member that is undefined is left out. */
function withoutUndefined(settings: PartialSettings): PartialSettings {
  return JSON.parse(JSON.stringify(settings)) as PartialSettings;
}

/** A value over another: groups of settings are joined, anything else is replaced. */
function over(below: unknown, above: unknown): unknown {
  return isGroup(below) && isGroup(above) ? { ...below, ...above } : above;
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
