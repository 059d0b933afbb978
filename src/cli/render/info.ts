import { type Field, renderFields } from '../terminal/table.ts';

/** The facts of a source for people: a line for each, a line more for each further value of a list. */
export function renderInfo(info: Readonly<Record<string, unknown>>): string {
  return renderFields(
    Object.entries(info).flatMap(([name, value]): Field[] => {
      if (value === undefined) return [];
      return [[name, Array.isArray(value) ? value.map(textOf) : textOf(value)]];
    }),
  );
}

function textOf(value: unknown): string {
  if (value === null || value === '') return '';
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .filter(([, part]) => part !== undefined && part !== null)
    .map(([name, part]) => `${name} ${textOf(part)}`)
    .join(', ');
}
