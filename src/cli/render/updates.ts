import type { KeyUpdate } from '../../app/keys/update-keys.ts';
import type { ListfileUpdate } from '../../app/listfile/update-listfile.ts';
import { formatBytes, formatCount } from '../../core/quantities.ts';
import { printable } from '../terminal/text.ts';

/** The outcome of an update for people: the counts, and a line for each key that was not taken. */
export function renderKeyUpdate({ modified, read, added, changed, unchanged, conflicts }: KeyUpdate): string {
  if (!modified) return `The list is what it was: ${read} keys.`;
  const counts = `${read} keys read: ${added} new, ${changed} changed, ${unchanged} as they were.`;
  if (conflicts.length === 0) return counts;
  const lines = conflicts.map(
    ({ name, held, offered, source }) =>
      `  ${name}: the store has ${held} from ${printable(source)}, the list ${offered}`,
  );
  const kept = `${conflicts.length} contradict what is known, and were not taken; --replace takes those of the list:`;
  return [counts, kept, ...lines].join('\n');
}

/** The note on a list that takes the place of a damaged one. */
export const lostNames = 'the list that was there before was damaged: names that only it had are gone';

/** An update of names, for people. */
export function renderListfileUpdate({ modified, bytes, rows, ids, added, changed, removed }: ListfileUpdate): string {
  if (!modified) return `The list is what it was: ${formatCount(rows)} names.`;
  const fetched = `${formatCount(rows)} names read, ${formatBytes(bytes)} fetched`;
  const news = `${formatCount(added)} new, ${formatCount(changed)} changed, ${formatCount(removed)} removed`;
  return `${fetched}: ${news}. ${formatCount(ids)} ids have a name now.`;
}
