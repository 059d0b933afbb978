import type { SyncedBuilds, SyncFailure, SyncReport } from '../../app/sync.ts';
import { formatBytes, formatCount, formatDuration, plural } from '../../core/quantities.ts';
import { exitCodeOf } from '../error-report.ts';
import { type Column, renderTable } from '../terminal/table.ts';
import { problemLine } from './problems.ts';

/** The report in words. */
export function renderSync(report: SyncReport): string {
  const { build, product, wanted, held, fetched, missing, seconds, plan } = report;
  const lines = [`${product} ${build.name} (build config ${build.buildConfig})`];
  lines.push(`  wanted   ${amount(wanted)}`, `  held     ${amount(held)}`);
  if (report.patched !== undefined) lines.push(`  patched  ${patchedText(report.patched, plan !== undefined)}`);
  if (plan === undefined) {
    lines.push(
      `  fetched  ${amount(fetched)} in ${plural(fetched.requests, 'request', 'requests')}, ${formatDuration(seconds)}`,
    );
  } else {
    lines.push(
      `  missing  ${amount(missing)}`,
      `  plan     ${formatBytes(plan.bytes)} in ${plural(plan.requests, 'request', 'requests')}`,
    );
    if (plan.priorities.length > 0) lines.push('', '  missing by priority (lower is sooner)');
    for (const { priority, ...rest } of plan.priorities)
      lines.push(`    ${String(priority).padStart(4)}  ${amount(rest)}`);
    if (plan.tags.length > 0) lines.push('', '  wanted by tag');
    for (const { tag, ...rest } of plan.tags) lines.push(`    ${tag.padEnd(12)}  ${amount(rest)}`);
  }
  return lines.join('\n');
}

function amount({ entries, bytes }: SyncReport['wanted']): string {
  return `${plural(entries, 'entry', 'entries')}, ${formatBytes(bytes)}`;
}

const columns: readonly Column[] = [
  { title: 'product' },
  { title: 'build' },
  { title: 'wanted', align: 'right' },
  { title: 'held', align: 'right' },
  { title: 'fetched', align: 'right' },
  { title: 'requests', align: 'right' },
];

/** The report on several builds in words: a line each, those that failed, and what it was in all. */
export function renderSyncs({ builds, failed }: SyncedBuilds, isPlan: boolean, width: number): string {
  const rows = builds.map(({ product, build, wanted, held, fetched, plan }) => [
    product,
    build.name,
    formatBytes(wanted.bytes),
    formatBytes(held.bytes),
    formatBytes(plan?.bytes ?? fetched.bytes),
    formatCount(plan?.requests ?? fetched.requests),
  ]);
  const titles = columns.map(({ title, ...column }) => ({
    title: isPlan && title === 'fetched' ? 'to fetch' : title,
    ...column,
  }));
  const lines = builds.length === 0 ? [] : [renderTable(titles, rows, width), ''];
  if (failed.length > 0) lines.push(`${plural(failed.length, 'build', 'builds')} failed:`);
  for (const { name, message } of failed) lines.push(problemLine(name, message));
  lines.push(isPlan ? 'What several of them lack counts for each.' : totalLine(builds));
  return lines.join('\n');
}

function totalLine(builds: SyncedBuilds['builds']): string {
  const total = { entries: 0, bytes: 0, requests: 0, seconds: 0 };
  for (const { fetched, seconds } of builds) {
    total.entries += fetched.entries;
    total.bytes += fetched.bytes;
    total.requests += fetched.requests;
    total.seconds += seconds;
  }
  const { requests, seconds } = total;
  return `${plural(builds.length, 'build', 'builds')} held; fetched ${amount(total)} in ${plural(requests, 'request', 'requests')}, ${formatDuration(seconds)}`;
}

/**
 * The exit code of work on several builds: that of the worst failure. What a further run can bring is worse than what nobody has, and any
 * other trouble is worse than both.
 */
export function syncExitCode({ failed }: SyncedBuilds): number {
  const rank = ({ code }: SyncFailure): number => ['E_NOT_FOUND', 'E_INCOMPLETE'].indexOf(code);
  const worst = failed.find((failure) => rank(failure) < 0) ?? [...failed].sort((a, b) => rank(b) - rank(a))[0];
  return worst === undefined ? 0 : exitCodeOf(worst.code);
}

function patchedText(
  { entries, bytesSaved, patchBytes, failed }: NonNullable<SyncReport['patched']>,
  planned: boolean,
): string {
  const made = `${plural(entries, 'entry', 'entries')} ${planned ? 'would be made' : 'made'} from ${formatBytes(patchBytes)} of patches`;
  const saved = bytesSaved < 0 ? `${formatBytes(-bytesSaved)} lost` : `${formatBytes(bytesSaved)} saved`;
  return `${made}, ${saved}${failed === 0 ? '' : `; ${formatCount(failed)} failed and were fetched`}`;
}
