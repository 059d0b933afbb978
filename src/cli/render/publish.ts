import type { PublishReport } from '../../app/publish.ts';
import { formatBytes, plural } from '../../core/quantities.ts';

/** What was published, in a few lines. */
export function renderPublish(report: PublishReport): string {
  const { product, version, buildId, files, bytes, out, unchanged, added, patches } = report;
  const build = `${product} ${version} (build ${buildId})`;
  const what = `${plural(files, 'file', 'files')}, ${formatBytes(bytes)}`;
  if (unchanged) return `Nothing has changed: ${build} has these ${what} already.`;
  const made = [`${plural(added.objects, 'new object', 'new objects')}, ${formatBytes(added.bytes)}`];
  if (patches.objects > 0) made.push(`${plural(patches.objects, 'patch', 'patches')}, ${formatBytes(patches.bytes)}`);
  const lines = [`${build}: ${what}`, `  ${made.join('; ')}`];
  lines.push(`  build config ${report.buildConfig}, CDN config ${report.cdnConfig}`, `${out} is ready to be served.`);
  return lines.join('\n');
}
