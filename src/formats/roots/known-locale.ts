import { localeFlag, localeNames } from './locale.ts';

const flags: ReadonlyMap<string, number> = new Map(
  localeNames(0xffffffff).map((name) => [name.toLowerCase(), localeFlag(name)]),
);

/** The flag bit of a locale such as `enUS` in any case of letters, or undefined for a text that is none. */
export function knownLocaleFlag(text: string): number | undefined {
  return flags.get(text.toLowerCase());
}
