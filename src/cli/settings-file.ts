import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { posix, win32 } from 'node:path';
import type { PartialSettings } from '../app/settings/settings.ts';
import { messageOf, PakratError } from '../core/errors.ts';

/** The system as far as it says where settings lie. */
export interface SettingsPlaces {
  env?: NodeJS.ProcessEnv;
  platform?: NodeJS.Platform;
  home?: string;
}

/** The files in which settings are looked for, without PAKRAT_CONFIG, the first that is there counts: the folders of each system for them. */
export function settingsFiles({ env = process.env, platform = process.platform, home }: SettingsPlaces = {}): string[] {
  const own = home ?? homedir();
  if (platform === 'win32') {
    return [win32.join(env.APPDATA || win32.join(own, 'AppData', 'Roaming'), 'pakrat', 'config.json')];
  }
  const { join } = posix;
  const files = [join(env.XDG_CONFIG_HOME || join(own, '.config'), 'pakrat', 'config.json')];
  if (platform === 'darwin') files.push(join(own, 'Library', 'Application Support', 'pakrat', 'config.json'));
  return files;
}

/** The file of the user's settings: the one that PAKRAT_CONFIG names, else the one that is found; undefined without any. */
export function settingsFile(places: SettingsPlaces = {}): string | undefined {
  const named = (places.env ?? process.env).PAKRAT_CONFIG;
  return named || settingsFiles(places).find((path) => existsSync(path));
}

/**
 * The settings of the user's file; undefined without one.
 * @throws E_USAGE that names the file, and the setting, when it cannot be read, is no JSON, or holds what is no setting
 */
export async function userSettings(path = settingsFile()): Promise<PartialSettings | undefined> {
  if (path === undefined) return undefined;
  const settings = readJson(path);
  // Here the file has a name.
  const { checkSettings } = await import('../app/settings/check-settings.ts');
  checkSettings(path, settings);
  return settings as PartialSettings;
}

/** What the environment says of proxies, as settings; in lower case first, as everywhere. */
export function proxySettings(env: NodeJS.ProcessEnv = process.env): PartialSettings {
  const named = { httpProxy: 'http_proxy', httpsProxy: 'https_proxy', noProxy: 'no_proxy' };
  const values = Object.entries(named).map(([setting, name]) => [setting, env[name] || env[name.toUpperCase()]]);
  return { network: Object.fromEntries(values.filter(([, value]) => value)) };
}

/** The settings of the user's file, under those of the environment. @throws as {@link userSettings} */
export async function ownSettings(): Promise<PartialSettings> {
  const [file, { network }] = [await userSettings(), proxySettings()];
  return { ...file, network: { ...file?.network, ...network } };
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new PakratError('E_USAGE', `${path} cannot be read as settings: ${messageOf(error)}`, {
      hint: 'Settings are a JSON file, such as {"region": "eu"}; config/default.json has them all.',
      data: { path },
      cause: error,
    });
  }
}
