import { PakratError } from '../../core/errors.ts';
import { ContentFlags, localeFallback, localeFlag, localeNames } from '../../formats/roots/locale.ts';
import type { FileVariant } from './root.ts';

/**
 * The variant of a file that a locale gets: the rows for the locale (or the one it falls back to), those that are no
 * low-violence or do-not-load alternates before those that are, the first of what is left. Undefined when no row is for the locale.
 */
export function pickVariant(variants: readonly FileVariant[], locale: string): FileVariant | undefined {
  for (let name: string | undefined = locale; name !== undefined; name = localeFallback(name)) {
    const flag = localeFlag(name);
    const fitting = variants.filter((variant) => (variant.localeFlags & flag) !== 0);
    if (fitting.length > 0) return fitting.find((variant) => !isAlternate(variant)) ?? fitting[0];
  }
  return undefined;
}

function isAlternate(variant: FileVariant): boolean {
  return (variant.contentFlags & (ContentFlags.lowViolence | ContentFlags.dontLoad)) !== 0;
}

/** As {@link pickVariant}. @throws E_NOT_FOUND that names the locales there are, E_USAGE where a name stands for several files */
export function getVariant(variants: readonly FileVariant[], locale: string, name: string): FileVariant {
  const found = pickVariant(variants, locale);
  if (found?.oneOf !== undefined) {
    throw new PakratError('E_USAGE', `${name} is there for several systems or regions`, {
      hint: `Ask for ${found.oneOf.join(' or ')}.`,
      data: { name, names: found.oneOf },
    });
  }
  if (found !== undefined) return found;
  const locales = localeNames(variants.reduce((flags, variant) => flags | variant.localeFlags, 0));
  throw new PakratError('E_NOT_FOUND', `${name} has no variant for locale ${locale}`, {
    hint: `Ask with --locale ${locales.join(' or ')}.`,
    data: { name, locale, locales },
  });
}
