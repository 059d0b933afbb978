import type { Inspection } from '../../app/inspect.ts';
import { formatBytes, formatCount } from '../../core/quantities.ts';
import { type Field, renderFields, renderTable } from '../terminal/table.ts';

/** An inspection for people: what it is, its facts, some of its rows; then what is inside. */
export function renderInspection(inspection: Inspection, width: number): string {
  const { format, size, md5, facts, table, inside, problem, nameIs, mismatch } = inspection;
  const fields = Object.entries(facts).flatMap(([name, fact]): Field[] => {
    if (fact === undefined) return [];
    return [[name, typeof fact === 'object' ? fact : String(fact)]];
  });
  const exact = `${formatCount(size)} bytes`;
  const parts = [
    `${format}, ${size < 1024 ? exact : `${formatBytes(size)} (${exact})`}, MD5 ${md5}`,
    ...(nameIs ? [`  its name is the ${nameIs}`] : []),
    renderFields(fields, '  '),
  ];
  if (table !== undefined) parts.push('', renderRows(table, width));
  if (mismatch !== undefined) parts.push('', `Wrong: ${mismatch.message}`);
  if (problem !== undefined) parts.push('', `What is inside cannot be shown: ${problem.message}`);
  if (inside !== undefined) parts.push('', `inside: ${renderInspection(inside, width)}`);
  return parts.filter((part, i) => part !== '' || i > 1).join('\n');
}

function renderRows({ what, count, first, columns, rows }: NonNullable<Inspection['table']>, width: number): string {
  if (rows.length === 0)
    return count === 0 ? `no ${what}` : `${formatCount(count)} ${what}, none from number ${first} on`;
  const titles = columns.map((title) => ({
    title,
    align: typeof rows[0]?.[title] === 'number' ? ('right' as const) : ('left' as const),
  }));
  const cells = rows.map((row) => columns.map((name) => String(row[name] ?? '')));
  const last = first + rows.length - 1;
  const more = rows.length < count ? `; --rows A-B shows others` : '';
  return `${what} ${first} to ${last} of ${formatCount(count)}${more}\n${renderTable(titles, cells, width)}`;
}
