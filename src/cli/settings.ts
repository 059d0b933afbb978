import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceTemplate } from '../cdn/versions/service-urls.ts';
import { messageOf, PakratError } from '../core/errors.ts';
import { checkJson, type JsonSchema } from './json-schema.ts';
import { packageRoot } from './package-root.ts';

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

/**
 * The settings: the defaults, then the file that PAKRAT_CONFIG names, then `overrides`. Lists are replaced whole.
 * @throws E_USAGE when a file cannot be read, is no JSON, or holds what is no setting
 */
export function loadSettings(overrides: PartialSettings = {}, userFile = process.env.PAKRAT_CONFIG): Settings {
  const folder = join(packageRoot(), 'config');
  const schema = readJson(join(folder, 'schema.json')) as JsonSchema;
  const layers: [string, unknown][] = [['config/default.json', readJson(join(folder, 'default.json'))]];
  if (userFile !== undefined && userFile !== '') layers.push([userFile, readJson(userFile)]);
  layers.push(['the settings given', overrides]);
  const merged: Record<string, unknown> = {};
  for (const [name, layer] of layers) {
    checkJson(layer, schema, name);
    for (const [setting, value] of Object.entries(layer as object)) merged[setting] = over(merged[setting], value);
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

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new PakratError('E_USAGE', `${path} cannot be read as settings: ${messageOf(error)}`, {
      hint: 'PAKRAT_CONFIG must name a JSON file such as config/default.json.',
      data: { path },
      cause: error,
    });
  }
}
