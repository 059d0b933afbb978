import type { SyncReport } from '../../app/sync.ts';
import { formatBytes, formatCount, formatDuration, plural } from '../../core/quantities.ts';

/** The report in words. */
export function renderSync(report: SyncReport): string {
  const { build, product, wanted, held, fetched, missing, seconds, plan } = report;
  const lines = [`${product} ${build.name} (build config ${build.buildConfig})`];
  const amount = ({ entries, bytes }: SyncReport['wanted']): string =>
    `${plural(entries, 'entry', 'entries')}, ${formatBytes(bytes)}`;
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

function patchedText(
  { entries, bytesSaved, patchBytes, failed }: NonNullable<SyncReport['patched']>,
  planned: boolean,
): string {
  const made = `${plural(entries, 'entry', 'entries')} ${planned ? 'would be made' : 'made'} from ${formatBytes(patchBytes)} of patches`;
  const saved = bytesSaved < 0 ? `${formatBytes(-bytesSaved)} lost` : `${formatBytes(bytesSaved)} saved`;
  return `${made}, ${saved}${failed === 0 ? '' : `; ${formatCount(failed)} failed and were fetched`}`;
}
