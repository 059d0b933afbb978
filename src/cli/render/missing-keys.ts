import type { MissingKey } from '../../app/keys/missing-keys.ts';
import { formatBytes, formatCount } from '../../core/quantities.ts';
import { type Column, renderTable } from '../terminal/table.ts';
import { printable } from '../terminal/text.ts';

/** Missing keys for people: a line each; with `verbose` some names of the files under it. */
export function renderMissingKeys(
  keys: readonly MissingKey[],
  { width, verbose }: { width: number; verbose: boolean },
): string {
  if (keys.length === 0) return 'No key is missing.';
  const columns: Column[] = [
    { title: 'KEY' },
    { title: 'FILES', align: 'right' },
    { title: 'BYTES', align: 'right' },
    ...(keys.some(({ entries }) => entries !== undefined) ? [{ title: 'ENTRIES', align: 'right' } as const] : []),
    ...(keys.some(({ origin }) => origin !== undefined) ? [{ title: 'IN' }] : []),
  ];
  const rows = keys.map(({ key, files, bytes, entries, origin }) => [
    key,
    files === null ? 'all' : formatCount(files),
    bytes === null ? '?' : formatBytes(bytes),
    ...(entries === undefined ? [] : [formatCount(entries)]),
    ...(origin === undefined ? [] : [origin]),
  ]);
  const [title, ...lines] = renderTable(columns, rows, width).split('\n');
  return [title, ...lines.flatMap((line, i) => [line, ...(verbose ? nameLines(keys[i]) : [])])].join('\n');
}

function nameLines({ names = [], files = 0 }: Partial<MissingKey> = {}): string[] {
  const more = (files ?? 0) - names.length;
  return [...names.map((name) => `  ${printable(name)}`), ...(more > 0 ? [`  and ${formatCount(more)} more`] : [])];
}
