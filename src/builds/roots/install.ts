import { normalizeName } from '../../core/jenkins.ts';
import { groupBy } from '../../core/tables/group-by.ts';
import { compareNames } from '../../core/tables/name-order.ts';
import type { Install, InstallEntry } from '../../formats/manifests/install.ts';
import { hasTag } from '../../formats/manifests/tags.ts';
import { findLocaleFlag } from '../../formats/roots/locale.ts';
import { allLocales } from './name-table.ts';
import type { FileVariant, Root } from './root.ts';

/*
 * The install manifest in place of a root: Hearthstone, the launcher, older games (products hs…, bna, agent, dst2, rtro, war1, w2bn …). A path may be there several times, told apart by tags only: locales become variants
 * of one file; what differs for a platform or a region is listed as `TAGS/path`, and the bare path then finds nothing but the question which.
 */

interface InstallFile {
  entry: InstallEntry;
  path: string;
  localeFlags: number;
  /** The tags that it carries, locales aside. */
  tags: string[];
}

/** Opens an install manifest as a root. @param notes why it stands in for one */
export function openInstallRoot(install: Install, notes: readonly string[]): Root {
  const groups = groupByPath(install);
  const files = [...groups.values()].flatMap(nameGroup).sort((a, b) => compareNames(a.name, b.name));
  const byName = groupBy<FileVariant>(files, ({ name = '' }) => normalizeName(name));
  return {
    kind: 'install',
    notes,
    find(name) {
      const key = normalizeName(name);
      const named = byName.get(key);
      if (named !== undefined) return named;
      const variants = nameGroup(groups.get(key) ?? []);
      const oneOf = variants.map((variant) => variant.name);
      return variants.map((variant) => ({ ...variant, oneOf }));
    },
    findId: () => [],
    checkAll: async () => {},
    *list(matches) {
      for (const file of files) if (matches(file.name)) yield file;
    },
    close() {},
  };
}

function groupByPath(install: Install): Map<string, InstallFile[]> {
  const groups = new Map<string, InstallFile[]>();
  const locales = install.tags.flatMap(({ name, mask }) => {
    const flag = findLocaleFlag(name);
    return flag === undefined ? [] : [{ flag, mask }];
  });
  const others = install.tags.filter(({ name }) => findLocaleFlag(name) === undefined);
  install.entries.forEach((entry, i) => {
    const path = entry.path.replaceAll('\\', '/');
    const flags = locales.reduce((sum, { flag, mask }) => (hasTag(mask, i) ? sum | flag : sum), 0) >>> 0;
    const localeFlags = flags === 0 ? allLocales : flags;
    const tags = others.filter(({ mask }) => hasTag(mask, i)).map(({ name }) => name);
    const key = normalizeName(path);
    const group = groups.get(key) ?? [];
    if (group.length === 0) groups.set(key, group);
    const same = group.find((file) => file.entry.ckey === entry.ckey);
    if (same === undefined) group.push({ entry, path, localeFlags, tags });
    else {
      same.localeFlags = (same.localeFlags | localeFlags) >>> 0;
      same.tags = same.tags.filter((tag) => tags.includes(tag));
    }
  });
  return groups;
}

function nameGroup(group: readonly InstallFile[]): (FileVariant & { name: string })[] {
  const clash = group.some((a, i) => group.some((b, j) => i < j && (a.localeFlags & b.localeFlags) !== 0));
  const names = group.map((file) => (clash ? qualified(file, group) : file.path));
  return group.map(({ entry, localeFlags: tagged }, i) => {
    // A path with one content is that file whatever the locale.
    const localeFlags = group.length === 1 ? allLocales : tagged;
    const own = names[i] ?? '';
    const isTaken = clash && names.filter((name) => name === own).length > 1;
    const name = isTaken ? `${entry.ckey}/${own}` : own;
    return { name, localeFlags, contentFlags: 0, parts: [{ ckey: entry.ckey, size: entry.size }] };
  });
}

/** The path behind the tags that not all files of the path carry. */
function qualified({ tags, path }: InstallFile, group: readonly InstallFile[]): string {
  const telling = tags.filter((tag) => !group.every((file) => file.tags.includes(tag)));
  return telling.length === 0 ? path : `${telling.join(' ')}/${path}`;
}
