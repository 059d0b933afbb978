import { join, resolve } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { PakratError } from '../core/errors.ts';
import { localeFlag, localeNames } from '../formats/roots/locale.ts';
import { loadSettings, type Settings } from './settings.ts';

/** The flags that every command has, beside --json. */
export const globalFlags = {
  store: Flags.string({
    summary: 'Folder of the store.',
    description:
      'Default: PAKRAT_STORE, else pakrat/store in the data folder of the user (XDG_DATA_HOME, ~/.local/share).',
    helpGroup: 'GLOBAL',
    helpValue: 'DIR',
    env: 'PAKRAT_STORE',
  }),
  region: Flags.string({
    summary: 'Region whose rows are taken: us, eu, kr, tw, sg or cn.',
    helpGroup: 'GLOBAL',
    helpValue: 'us',
  }),
  locale: Flags.string({
    summary: 'Locale of files that come in several, such as enUS or deDE.',
    helpGroup: 'GLOBAL',
    helpValue: 'enUS',
  }),
  'patch-url': Flags.string({
    // oclif would take a variable for one value, not for a list: globalOptions reads it.
    summary:
      '[env: PAKRAT_PATCH_URL] Version service to ask in place of the official ones: URL/PRODUCT/versions, or ribbit://HOST:PORT. Repeatable.',
    helpGroup: 'GLOBAL',
    helpValue: 'URL',
    multiple: true,
    multipleNonGreedy: true,
  }),
  'cdn-host': Flags.string({
    summary: 'Host to fetch from in place of those that cdns names. Repeatable.',
    helpGroup: 'GLOBAL',
    helpValue: 'HOST[:PORT]',
    multiple: true,
    multipleNonGreedy: true,
  }),
  offline: Flags.boolean({ summary: 'Use only what the store holds; no network.', helpGroup: 'GLOBAL' }),
  quiet: Flags.boolean({ summary: 'Show no progress and no notes.', helpGroup: 'GLOBAL' }),
};

/** The global flags as oclif parses them. */
export interface GlobalFlags {
  store?: string | undefined;
  region?: string | undefined;
  locale?: string | undefined;
  'patch-url'?: string[] | undefined;
  'cdn-host'?: string[] | undefined;
  offline?: boolean;
  quiet?: boolean;
}

/** What the global flags, the environment and the settings come to. */
export interface GlobalOptions {
  /** Absolute path of the store's folder; it may not exist. */
  store: string;
  region: string;
  locale: string;
  /** Empty: the services of the settings. */
  patchUrls: string[];
  /** Empty: the hosts that `cdns` names. As typed: `host`, `host:port` or a URL. */
  cdnHosts: string[];
  offline: boolean;
  quiet: boolean;
  settings: Settings;
}

/**
 * Joins flags, environment and settings.
 * @param dataFolder where the store is when nobody says
 * @throws E_USAGE for a region or locale that is none, or bad settings
 */
export function globalOptions(flags: GlobalFlags, dataFolder: string): GlobalOptions {
  const settings = loadSettings();
  const patchUrls = flags['patch-url'] ?? (process.env.PAKRAT_PATCH_URL ?? '').split(/\s+/).filter(Boolean);
  const region = (flags.region ?? settings.region).toLowerCase();
  // A service of one's own may have regions of its own.
  if (patchUrls.length === 0 && !settings.regions.includes(region)) {
    throw new PakratError('E_USAGE', `there is no region ${JSON.stringify(region)}`, {
      hint: `Use one of ${settings.regions.join(', ')}.`,
      data: { region, known: settings.regions },
    });
  }
  // It would be the folder that the program happens to run in: a script's variable is unset.
  if (flags.store === '') throw new PakratError('E_USAGE', '--store names no folder');
  const locale = flags.locale ?? settings.locale;
  return {
    store: resolve(flags.store ?? join(dataFolder, 'store')),
    region,
    locale: localeNames(localeFlag(locale))[0] ?? locale,
    patchUrls,
    cdnHosts: flags['cdn-host'] ?? [],
    offline: flags.offline ?? false,
    quiet: flags.quiet ?? false,
    settings,
  };
}
