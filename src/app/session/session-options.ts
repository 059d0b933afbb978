import { resolve } from 'node:path';
import { type Host, hostsOf } from '../../cdn/hosts/host-names.ts';
import { serviceUrls } from '../../cdn/versions/service-urls.ts';
import { fromHex } from '../../core/bytes.ts';
import { PakratError } from '../../core/errors.ts';
import type { KeyRing } from '../../formats/blte/keys.ts';
import { localeFlag, localeNames } from '../../formats/roots/locale.ts';
import { mergeSettings, type PartialSettings, type Settings } from '../settings/settings.ts';

/** Options of a session; they carry the names of the command line's flags in camel case. */
export interface SessionOptions {
  /** Folder of the store. Without one PAKs and installed games can be opened, and nothing is remembered. */
  store?: string | undefined;
  /** Region whose rows are taken. Default: the setting `region`. */
  region?: string | undefined;
  /** Locale of files that come in several. Default: the setting `locale`. */
  locale?: string | undefined;
  /** Version services to ask in place of those of the settings: the base of `URL/PRODUCT/versions`, or `ribbit://HOST:PORT`. */
  patchUrl?: string | readonly string[] | undefined;
  /** Hosts to fetch from in place of those that `cdns` names: `HOST`, `HOST:PORT` or a URL. */
  cdnHost?: string | readonly string[] | undefined;
  /** Use only what the store holds; no network. */
  offline?: boolean | undefined;
  /** Settings over the defaults of config/default.json. */
  settings?: PartialSettings | undefined;
  /** Keys for encrypted files: names as key lists print them, and keys, in hex. They come before those of the store. */
  keys?: Readonly<Record<string, string>> | undefined;
  /** Threads for a sync, by default one a core, 4 at most. With 0 nothing ever starts a thread, as in a bundle that has no files for them. */
  threads?: number | undefined;
  /** The program of a thread, `dist/chunks/transfer-worker.js`, where it is not beside the library; the others are looked for beside it. */
  workerUrl?: URL | undefined;
}

/** The options of a session, checked and complete. */
export interface CheckedOptions {
  settings: Settings;
  /** Absolute path; undefined for a session without a store. */
  store: string | undefined;
  region: string;
  locale: string;
  offline: boolean;
  /** The version services to ask, in order. */
  services: readonly string[];
  /** Hosts in place of those of the CDN; undefined for those. */
  ownHosts: readonly Host[] | undefined;
  /** Hosts that are asked behind those of the CDN. */
  mirrors: readonly Host[];
  keys: KeyRing;
  threads: number | undefined;
  workerUrl: URL | undefined;
}

/** Checks the options of a session but for its settings, and fills in those that are not given. @throws E_USAGE */
export function checkOptions(options: SessionOptions): CheckedOptions {
  const settings = mergeSettings(options.settings ?? {});
  const patchUrls = listOf(options.patchUrl);
  const region = (options.region ?? settings.region).toLowerCase();
  if (!settings.regions.includes(region)) {
    const own =
      patchUrls.length === 0 ? '' : ' A region that only a service of yours has is added in the setting "regions".';
    throw new PakratError('E_USAGE', `there is no region ${JSON.stringify(region)}`, {
      hint: `Use one of ${settings.regions.join(', ')}.${own}`,
      data: { region, known: settings.regions },
    });
  }
  // It would be the folder that the program happens to run in: a script's variable is unset.
  if (options.store === '') throw new PakratError('E_USAGE', '--store names no folder');
  const locale = options.locale ?? settings.locale;
  const cdnHosts = listOf(options.cdnHost);
  return {
    settings,
    store: options.store === undefined ? undefined : resolve(options.store),
    region,
    locale: localeNames(localeFlag(locale))[0] ?? locale,
    offline: options.offline ?? false,
    services: serviceUrls(settings.versionServices, region, patchUrls),
    ownHosts: cdnHosts.length > 0 ? cdnHosts.flatMap(hostsOf) : undefined,
    mirrors: settings.network.mirrors.flatMap(hostsOf).map((host) => ({ ...host, mirror: true })),
    keys: keyRingOf(options.keys ?? {}),
    threads: options.threads,
    workerUrl: options.workerUrl,
  };
}

function keyRingOf(keys: Readonly<Record<string, string>>): KeyRing {
  const byName = new Map<string, Uint8Array>();
  for (const [name, key] of Object.entries(keys)) {
    if (!/^[0-9a-f]{16}$/i.test(name) || !/^([0-9a-f]{2})+$/i.test(key)) {
      throw new PakratError('E_USAGE', `keys: ${JSON.stringify(name)} or its key is not in hex`, {
        hint: 'A name has 16 hex digits, a key 32.',
      });
    }
    byName.set(name.toLowerCase(), fromHex(key.toLowerCase()));
  }
  return { find: (name) => byName.get(name.toLowerCase()) };
}

/** An option that may be given once or several times, as a list. */
export function listOf(value: string | readonly string[] | undefined): readonly string[] {
  return typeof value === 'string' ? [value] : (value ?? []);
}
