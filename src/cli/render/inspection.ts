import type { Inspection } from '../../app/inspect.ts';
import { formatBytes, formatCount } from '../../core/quantities.ts';
import { type Field, renderFields, renderTable } from '../terminal/table.ts';

/** Lines of a list that fit a screen with what else there is to say. */
const mostLines = 12;

/** An inspection for people: what it is, its facts, some of its rows; then what is inside. @param all long lists to their end */
export function renderInspection(inspection: Inspection, width: number, all = false): string {
  const { format, size, md5, facts, table, more = [], inside, problem, nameIs, mismatch } = inspection;
  const fields = Object.entries(facts).flatMap(([name, fact]): Field[] => {
    if (fact === undefined) return [];
    return [[name, typeof fact === 'object' ? firstOf(fact, all) : String(fact)]];
  });
  const exact = `${formatCount(size)} bytes`;
  const parts = [
    `${format}, ${size < 1024 ? exact : `${formatBytes(size)} (${exact})`}, MD5 ${md5}`,
    ...(nameIs ? [`  its name is the ${nameIs}`] : []),
    renderFields(fields, '  '),
  ];
  if (table !== undefined) for (const rows of [table, ...more]) parts.push('', renderRows(rows, width));
  if (mismatch !== undefined) parts.push('', `Wrong: ${mismatch.message}`);
  if (problem !== undefined) parts.push('', `What is inside cannot be shown: ${problem.message}`);
  if (inside !== undefined) parts.push('', `inside: ${renderInspection(inside, width, all)}`);
  return parts.filter((part, i) => part !== '' || i > 1).join('\n');
}

function firstOf(lines: readonly string[], all: boolean): readonly string[] {
  if (all || lines.length <= mostLines) return lines;
  const hidden = lines.length - mostLines + 1;
  return [...lines.slice(0, mostLines - 1), `… and ${formatCount(hidden)} more, with --all`];
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
  const more = rows.length < count ? `; --rows A-B shows others, --all all` : '';
  return `${what} ${first} to ${last} of ${formatCount(count)}${more}\n${renderTable(titles, cells, width)}`;
}
