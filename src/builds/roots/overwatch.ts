import { normalizeName } from '../../core/jenkins.ts';
import { decodeOverwatchRoot } from '../../formats/roots/overwatch.ts';
import type { NameRow } from './name-table.ts';

/** The files of a root table, those of one name together. @throws E_FORMAT… */
export function overwatchRows(bytes: Uint8Array): NameRow[] {
  const groups = new Map<string, NameRow[]>();
  for (const { name, ckey } of decodeOverwatchRoot(bytes).files) {
    const row = { name: name.replaceAll('\\', '/'), parts: [{ ckey, size: undefined }] };
    const group = groups.get(normalizeName(name));
    if (group === undefined) groups.set(normalizeName(name), [row]);
    else group.push(row);
  }
  return [...groups.values()].flat();
}
