import { normalizeName } from '../../../core/jenkins.ts';
import { groupBy } from '../../../core/tables/group-by.ts';
import { findLocaleFlag } from '../../../formats/roots/locale.ts';
import { decodeTextRoot, type TextRootRow } from '../../../formats/roots/text.ts';
import { allLocales, type NameRow } from '../name-table.ts';

/**
 * The files of a text root, those of one name side by side, the one for all locales last.
 * Archives nest with `/`, as in TVFS; where two paths would become one that way, both keep their `:`.
 * @throws E_FORMAT… as {@link decodeTextRoot}
 */
export function textRows(bytes: Uint8Array): NameRow[] {
  const groups = groupBy(decodeTextRoot(bytes).rows, ({ path }) => normalizeName(path.replaceAll(':', '/')));
  return [...groups.values()].flatMap(groupRows);
}

function groupRows(group: readonly TextRootRow[]): NameRow[] {
  const distinct = new Set(group.map(({ path }) => normalizeName(path))).size > 1;
  const rows = group.map(({ path, ckey, locale }) => ({
    name: (distinct ? path : path.replaceAll(':', '/')).replaceAll('\\', '/'),
    localeFlags: (locale === undefined ? undefined : findLocaleFlag(locale)) ?? allLocales,
    parts: [{ ckey, size: undefined }],
  }));
  return rows.sort((a, b) => compare(a.name, b.name) || a.localeFlags - b.localeFlags);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
