import defaults from '../../../config/default.json' with { type: 'json' };
import schema from '../../../config/schema.json' with { type: 'json' };
import type { ServiceTemplate } from '../../cdn/versions/service-urls.ts';
import { checkJson, type JsonSchema } from './json-schema.ts';

/** Every setting; defaults, bounds and meanings are in config/default.json and config/schema.json. */
export interface Settings {
  region: string;
  locale: string;
  regions: string[];
  versionServices: ServiceTemplate[];
  network: {
    connectMs: number;
    idleMs: number;
    versionServiceMs: number;
    attemptsPerHost: number;
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

/**
 * The defaults with some layers over them, later ones over earlier ones. Lists are replaced whole.
 * @throws E_USAGE for a layer that holds what is no setting
 */
export function mergeSettings(...layers: readonly SettingsLayer[]): Settings {
  const merged: Record<string, unknown> = {};
  for (const { name, settings } of [{ name: 'config/default.json', settings: defaults }, ...layers]) {
    checkJson(settings, schema as JsonSchema, name);
    for (const [setting, value] of Object.entries(settings as object)) merged[setting] = over(merged[setting], value);
  }
  const { $schema: _, ...settings } = merged;
  return settings as unknown as Settings;
}

/** A value over another: groups of settings are joined, anything else is replaced. */
function over(below: unknown, above: unknown): unknown {
  return isGroup(below) && isGroup(above) ? { ...below, ...above } : above;
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
