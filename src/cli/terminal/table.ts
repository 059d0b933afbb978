import { padText, printable, textWidth, truncateText } from './text.ts';

/** A column of a table. */
export interface Column {
  title: string;
  /** Numbers stand better on the right. Default left. */
  align?: 'left' | 'right';
}

/** Columns that are narrower than this are not cut further. */
const leastWidth = 8;
const gap = '  ';

/**
 * Rows under their titles, in columns, one line per row and no line break at the end. Cells are made printable.
 * @param width columns of the terminal: the widest table columns are cut until a line fits; Infinity cuts nothing
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const lines = [columns.map(({ title }) => title), ...rows].map((row) =>
    columns.map((_, i) => printable(row[i] ?? '')),
  );
  const widths = columns.map((_, i) => lines.reduce((most, line) => Math.max(most, textWidth(line[i] ?? '')), 0));
  shrink(widths, width - gap.length * (columns.length - 1));
  const cell = (text: string, i: number): string => {
    const room = widths[i] ?? 0;
    return padText(truncateText(text, room), room, columns[i]?.align);
  };
  return lines.map((line) => line.map(cell).join(gap).trimEnd()).join('\n');
}

/** Takes columns off whichever is the widest, one at a time, until all fit. */
function shrink(widths: number[], room: number): void {
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  for (; excess > 0; excess--) {
    const widest = Math.max(...widths);
    if (widest <= leastWidth) return;
    widths[widths.indexOf(widest)] = widest - 1;
  }
}

/** A named value of a record; a list takes a line for each of its values. */
export type Field = readonly [name: string, value: string | readonly string[]];

/** Names and values in two columns, no line break at the end. An empty value is shown as `-`. Everything is made printable. */
export function renderFields(fields: readonly Field[], indent = ''): string {
  const width = fields.reduce((most, [name]) => Math.max(most, textWidth(printable(name))), 0);
  return fields
    .flatMap(([name, value]) => {
      const lines = typeof value === 'string' ? [value] : value;
      return (lines.length === 0 ? [''] : lines).map(
        (line, i) => `${indent}${padText(i === 0 ? printable(name) : '', width)}  ${printable(line) || '-'}`,
      );
    })
    .join('\n');
}
