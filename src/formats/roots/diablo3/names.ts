import { diablo3Group } from '../sno/asset-groups.ts';
import type { SnoEntry } from '../sno/entries.ts';
import type { Diablo3Asset } from './folder.ts';

/**
 * Makes names of assets, with `/` and without the folder: `SoundBank/3D Ambience/0000.smp`. What Packages.dat lists has its extension, other
 * files that of their group. An SNO id that CoreTOC does not have makes `SNO/123456`.
 */
export function diablo3Namer(
  entries: readonly SnoEntry[],
  packages: readonly string[],
): (asset: Diablo3Asset) => string {
  // Of entries with one id the first counts.
  const bySno = new Map(entries.toReversed().map((entry) => [entry.snoId, entry]));
  const extensions = new Map<string, string>();
  for (const name of packages) {
    const dot = name.lastIndexOf('.');
    const key = comparable(name.slice(0, dot));
    if (dot > 0 && !extensions.has(key)) extensions.set(key, name.slice(dot + 1));
  }
  return ({ snoId, part }) => {
    const behind = part === undefined ? '' : `/${String(part).padStart(4, '0')}`;
    const entry = bySno.get(snoId);
    if (entry === undefined) return `SNO/${snoId}${behind}`;
    const { folder, extension } = diablo3Group(entry.group);
    const base = `${folder}/${entry.name.replaceAll('\\', '/')}`;
    const listed = extensions.get(comparable(base + behind)) ?? (behind && extensions.get(comparable(`${base}/0000`)));
    return `${base}${behind}.${listed || extension}`;
  };
}

function comparable(name: string): string {
  return name.replaceAll('\\', '/').toLowerCase();
}
