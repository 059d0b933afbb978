import { join } from 'node:path';
import * as Flags from '@oclif/core/flags';
import type { InferredFlags } from '@oclif/core/interfaces';
import type { SessionOptions } from '../../app/session/session-options.ts';
import { ownSettings } from '../settings-file.ts';
import { repeatable } from './args.ts';

/** The flags that every command has, beside --json. */
export const outputFlags = {
  quiet: Flags.boolean({ summary: 'Show no progress and no notes.', helpGroup: 'GLOBAL' }),
};

/** The flags of commands that work on the store. */
export const storeFlags = {
  ...outputFlags,
  store: Flags.string({
    summary: 'Folder of the store.',
    description:
      'Default: pakrat/store in the data folder of the user (XDG_DATA_HOME, ~/.local/share; LOCALAPPDATA on Windows).',
    helpGroup: 'GLOBAL',
    helpValue: 'DIR',
    env: 'PAKRAT_STORE',
  }),
};

/** The flag of commands that use the network for one thing alone. */
export const offlineFlag = {
  offline: Flags.boolean({ summary: 'Use only what the store holds; no network.', helpGroup: 'GLOBAL' }),
};

/** The flags of commands that ask version services. */
export const serviceFlags = {
  region: Flags.string({
    summary: 'Region whose rows are taken, such as us, eu, kr, tw or cn.',
    helpGroup: 'GLOBAL',
    helpValue: 'REGION',
  }),
  'patch-url': Flags.string({
    // oclif would take a variable for one value, not for a list: sessionOptions reads it.
    summary:
      'Version service to ask in place of the official ones: URL/PRODUCT/versions, channels+URL, or ribbit://HOST:PORT. Repeatable. Or PAKRAT_PATCH_URL in the environment.',
    helpGroup: 'GLOBAL',
    helpValue: 'URL',
    ...repeatable,
  }),
  ...offlineFlag,
};

/** All flags that are shared: those of commands that read or fetch builds. Every command takes them, for scripts give them to all alike. */
export const globalFlags = {
  ...storeFlags,
  ...serviceFlags,
  locale: Flags.string({
    summary: 'Locale of files that come in several, such as enUS or deDE.',
    helpGroup: 'GLOBAL',
    helpValue: 'LOCALE',
  }),
  'cdn-host': Flags.string({
    summary: 'Host to fetch from in place of those that cdns names. Repeatable.',
    helpGroup: 'GLOBAL',
    helpValue: 'HOST[:PORT]',
    ...repeatable,
  }),
};

/** The global flags where help shows some of them alone: the others make no difference. */
export function globalFlagsShowing(shown: Partial<typeof globalFlags>): typeof globalFlags {
  const flags = Object.entries(globalFlags).map(([name, flag]) => [name, { ...flag, hidden: !(name in shown) }]);
  return Object.fromEntries(flags);
}

/** The global flags as oclif parses them. */
export type GlobalFlags = Partial<InferredFlags<typeof globalFlags>>;

/**
 * The options of a session from flags, environment and settings.
 * @param dataFolder folder of the store when nobody says
 * @throws E_USAGE for bad settings
 */
export async function sessionOptions(
  flags: GlobalFlags,
  dataFolder: string,
): Promise<SessionOptions & { store: string }> {
  return {
    store: flags.store ?? join(dataFolder, 'store'),
    region: flags.region,
    locale: flags.locale,
    patchUrl: flags['patch-url'] ?? (process.env.PAKRAT_PATCH_URL ?? '').split(/\s+/).filter(Boolean),
    cdnHost: flags['cdn-host'],
    offline: flags.offline,
    settings: await ownSettings(),
  };
}
