import { type DiffItem, type DiffReport, type DiffSummary, itemName, nameOf, sizesOf } from '../../app/diff.ts';
import { formatBytes, formatCount, plural } from '../../core/quantities.ts';
import { exitCodeOf } from '../error-report.ts';
import { toJson, writeJsonList } from '../terminal/json.ts';
import { type Column, renderTable } from '../terminal/table.ts';
import { printable } from '../terminal/text.ts';
import { writeEach } from '../terminal/write-each.ts';

const letters = { added: 'A', removed: 'D', changed: 'M', renamed: 'R' } as const;
/** More folders than this are left to --json. */
const mostFolders = 40;

/** Writes a line for each file that differs, as `git diff --name-status` has them, with size and growth. */
export function writeDiff(stream: NodeJS.WritableStream, report: DiffReport): Promise<void> {
  return writeEach(stream, report.items(), (item) => `${lineOf(item)}\n`);
}

/** Writes the names of all files that differ. */
export function writeDiffNames(stream: NodeJS.WritableStream, report: DiffReport): Promise<void> {
  return writeEach(stream, report.items(), (item) => `${printable(itemName(item))}\n`);
}

function lineOf(item: DiffItem): string {
  const [before, after] = sizesOf(item);
  const name = printable(itemName(item));
  const size = String((item.kind === 'removed' ? before : after) ?? '?');
  const from = item.kind === 'renamed' ? `${printable(nameOf(item.before))} => ` : '';
  const both = item.kind === 'changed' && before !== undefined && after !== undefined;
  return `${letters[item.kind]}  ${from}${name}  ${size}${both ? ` (${signed(after - before, String)})` : ''}`;
}

function signed(value: number, format: (value: number) => string): string {
  return `${value < 0 ? '-' : '+'}${format(Math.abs(value))}`;
}

/** The sums in words: a line of counts, a line of what a sync would fetch, the files that could not be compared. */
export function renderDiff({ failed, summary }: DiffReport): string {
  const { added, removed, changed, renamed, unchanged } = summary;
  const growth = changed.files > 0 ? `, ${signed(changed.bytes - changed.before, formatBytes)}` : '';
  const lines = [
    [
      `${formatCount(added.files)} added (${formatBytes(added.bytes)})`,
      `${formatCount(removed.files)} removed (${formatBytes(removed.bytes)})`,
      `${formatCount(changed.files)} changed (${formatBytes(changed.bytes)}${growth})`,
      ...(renamed.files > 0 ? [`${formatCount(renamed.files)} renamed`] : []),
      `${formatCount(unchanged.files)} unchanged`,
    ].join(', '),
    ...fetchLines(summary),
  ];
  if (failed.length > 0) lines.push(`${formatCount(failed.length)} not compared:`);
  for (const { name, message } of failed) lines.push(`  ${name}: ${message}`);
  return lines.map(printable).join('\n');
}

function fetchLines({ fetch, missing }: DiffSummary): string[] {
  if (fetch === null || missing === null) return [];
  const amount = ({ entries, bytes }: { entries: number; bytes: number }): string =>
    `${plural(entries, 'entry', 'entries')} (${formatBytes(bytes)})`;
  return [`to fetch: ${amount(fetch)} beyond the first build, ${amount(missing)} beyond what the store holds`];
}

/** The sums by folder at the top, then as {@link renderDiff}. */
export function renderDiffSummary(report: DiffReport, width: number): string {
  const { folders } = report.summary;
  if (folders.length === 0) return renderDiff(report);
  const columns: Column[] = [{ title: 'folder' }];
  for (const title of ['added', 'removed', 'changed', 'renamed', 'growth']) columns.push({ title, align: 'right' });
  const rows = folders
    .slice(0, mostFolders)
    .map(({ folder, added, removed, changed, renamed, growth }) => [
      folder === '' ? '(no folder)' : folder,
      ...[added, removed, changed, renamed].map(formatCount),
      signed(growth, formatBytes),
    ]);
  if (folders.length > mostFolders) rows.push([`… and ${formatCount(folders.length - mostFolders)} more`]);
  return `${renderTable(columns, rows, width)}\n\n${renderDiff(report)}`;
}

/** Writes the JSON of a comparison, its lists row by row. */
export async function writeDiffJson(stream: NodeJS.WritableStream, report: DiffReport): Promise<void> {
  let head = '{';
  for (const kind of ['added', 'removed', 'changed', 'renamed'] as const) {
    stream.write(`${head}"${kind}":`);
    await writeJsonList<unknown>(stream, report[kind]);
    head = ',';
  }
  // By folder it is asked for with --summary; every name is here already.
  const { folders: _, ...sums } = report.summary;
  stream.write(`,"failed":${toJson(report.failed)},\n"summary":${toJson(sums, 2)}}\n`);
}

/** 0 when everything could be compared, whatever differs; with `tells` 1 when something differs. Else the exit code of the first failure. */
export function diffExitCode({ failed, summary }: DiffReport, tells: boolean): number {
  const [first] = failed;
  if (first !== undefined) return exitCodeOf(first.code);
  const { added, removed, changed, renamed } = summary;
  return tells && [added, removed, changed, renamed].some(({ files }) => files > 0) ? 1 : 0;
}
