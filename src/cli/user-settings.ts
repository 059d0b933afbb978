import { readFileSync } from 'node:fs';
import { mergeSettings, type PartialSettings } from '../app/session/settings.ts';
import { messageOf, PakratError } from '../core/errors.ts';

/**
 * The settings of the file that PAKRAT_CONFIG names; none without it.
 * @throws E_USAGE when the file cannot be read, is no JSON, or holds what is no setting
 */
export function userSettings(path = process.env.PAKRAT_CONFIG): PartialSettings {
  if (path === undefined || path === '') return {};
  const settings = readJson(path) as PartialSettings;
  // Here the file has a name.
  mergeSettings({ name: path, settings });
  return settings;
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
