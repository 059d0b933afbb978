import { padText, printable, textWidth } from './text.ts';

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
