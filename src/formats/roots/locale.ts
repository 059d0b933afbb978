import { PakratError } from '../../core/errors.ts';

/*
 * Locale and content flags of a WoW root, as two 32-bit words: the languages that a block is for, and the kinds of its files.
 * TVFS names of WoW carry the same two words in hex. Source: wowdev.wiki TACT; 0x1F3F6 (all thirteen shipped locales) and
 * the flags 0x80 and 0x10000000 checked on real roots.
 */

const localeBits: ReadonlyMap<string, number> = new Map([
  ['enUS', 0x2],
  ['koKR', 0x4],
  ['frFR', 0x10],
  ['deDE', 0x20],
  ['zhCN', 0x40],
  ['esES', 0x80],
  ['zhTW', 0x100],
  ['enGB', 0x200],
  ['enCN', 0x400],
  ['enTW', 0x800],
  ['esMX', 0x1000],
  ['ruRU', 0x2000],
  ['ptBR', 0x4000],
  ['itIT', 0x8000],
  ['ptPT', 0x10000],
]);

/** Kinds of files, as a root block has them. Test with `&`; `noCompression` is bit 31, so compare with `!== 0`. */
export const ContentFlags = {
  highResTexture: 0x1,
  install: 0x4,
  loadOnWindows: 0x8,
  loadOnMac: 0x10,
  x86: 0x20,
  x64: 0x40,
  /** A toned-down twin of another file of the same id; not the default. */
  lowViolence: 0x80,
  /** Not to be loaded by the client; not the default. */
  dontLoad: 0x100,
  updatePlugin: 0x800,
  arm64: 0x8000,
  encrypted: 0x8000000,
  /** The block has no name hashes. */
  noNameHash: 0x10000000,
  uncommonResolution: 0x20000000,
  bundle: 0x40000000,
  noCompression: 0x80000000,
} as const;

const bitsByLowerCase: ReadonlyMap<string, number> = new Map(
  Array.from(localeBits, ([name, bit]) => [name.toLowerCase(), bit]),
);

/** The flag bit of a locale such as `enUS` in any case of letters, or undefined for a text that is none. */
export function findLocaleFlag(text: string): number | undefined {
  return bitsByLowerCase.get(text.toLowerCase());
}

/** As {@link findLocaleFlag}. @throws E_USAGE, with the known names, when there is no such locale */
export function localeFlag(name: string): number {
  const bit = findLocaleFlag(name);
  if (bit !== undefined) return bit;
  throw new PakratError('E_USAGE', `there is no locale ${JSON.stringify(name)}`, {
    hint: `Use one of ${[...localeBits.keys()].join(', ')}.`,
    data: { locale: name, known: [...localeBits.keys()] },
  });
}

/** The names of all locales whose bits are set, in bit order; bits without a name are left out. */
export function localeNames(flags: number): string[] {
  const names: string[] = [];
  for (const [name, bit] of localeBits) if ((flags & bit) !== 0) names.push(name);
  return names;
}

/** The locale whose files stand in for those that `name` does not have (enGB → enUS, ptPT → ptBR), or undefined. */
export function localeFallback(name: string): string | undefined {
  const wanted = name.toLowerCase();
  if (wanted === 'engb') return 'enUS';
  return wanted === 'ptpt' ? 'ptBR' : undefined;
}
