import type { ImportAmount, ImportReport } from '../../app/import.ts';
import { errorCodes } from '../../core/errors.ts';
import { formatBytes, formatCount, plural } from '../../core/quantities.ts';
import { countRows } from '../../core/tables/bounded-rows.ts';
import { exitCodes } from '../error-report.ts';
import { printable } from '../terminal/text.ts';
import { groupedProblems, problemLine } from './problems.ts';

/** 3 when something was damaged, else 0. */
export function importExitCode({ damaged }: ImportReport): number {
  return damaged.length > 0 ? errorCodes.E_INTEGRITY : exitCodes.done;
}

/** Lines of one kind that are shown at most. */
const mostLines = 50;

/** The report in words. */
export function renderImport(report: ImportReport): string {
  const { folder, dryRun, taken, linked, held, lacking, damaged, unknown, unlisted, others, builds } = report;
  const lines = [printable(folder), `  ${dryRun ? 'to take   ' : 'taken     '}${amountText(taken)}`];
  if (linked.objects > 0)
    lines.push(`  linked    ${plural(linked.objects, 'object', 'objects')} of them, ${formatBytes(linked.bytes)}`);
  lines.push(`  held      ${amountText(held)}`);
  if (lacking.entries > 0)
    lines.push(`  not there ${plural(lacking.entries, 'entry', 'entries')}, ${formatBytes(lacking.bytes)}`);
  if (unlisted > 0)
    lines.push(
      `  unlisted  ${plural(unlisted, 'archive', 'archives')} of no build that is known: \`pakrat gc\` gives them back`,
    );
  if (others > 0) lines.push(`  other     ${plural(others, 'file', 'files')} passed over`);
  for (const { product, name } of builds) lines.push(`  build     ${printable(`${product}@${name}`)}`);
  lines.push(...listed('damaged, and not taken:', groupedProblems(damaged), countRows(damaged)));
  lines.push(...listed('not taken, for nothing here proves it:', unknown, unknown.length));
  return lines.join('\n');
}

function amountText({ objects, entries, bytes }: ImportAmount): string {
  return `${plural(objects, 'object', 'objects')}, ${plural(entries, 'entry', 'entries')}, ${formatBytes(bytes)}`;
}

function listed(title: string, rows: readonly { name: string; message: string }[], count: number): string[] {
  if (count === 0) return [];
  const more = rows.length - mostLines;
  return [
    '',
    `${formatCount(count)} ${title}`,
    ...rows.slice(0, mostLines).map(({ name, message }) => problemLine(name, message)),
    ...(more > 0 ? [`  and ${formatCount(more)} more; --json names all`] : []),
  ];
}
