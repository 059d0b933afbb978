import type { ListfileUpdate } from '../../app/listfile/update-listfile.ts';
import { formatBytes, formatCount } from '../../core/quantities.ts';

/** An update of names, for people. */
export function renderListfileUpdate({ modified, bytes, rows, ids, added, changed, removed }: ListfileUpdate): string {
  if (!modified) return `The list is what it was: ${formatCount(rows)} names.`;
  const fetched = `${formatCount(rows)} names read, ${formatBytes(bytes)} fetched`;
  const news = `${formatCount(added)} new, ${formatCount(changed)} changed, ${formatCount(removed)} removed`;
  return `${fetched}: ${news}. ${formatCount(ids)} ids have a name now.`;
}
