import type { ExtractResult } from '../../app/extract.ts';
import { formatBytes, formatCount, plural } from '../../core/quantities.ts';
import { countRows } from '../../core/tables/bounded-rows.ts';
import { exitCodeOf } from '../error-report.ts';
import { printable } from '../terminal/text.ts';
import { problemLine, unsureLines } from './problems.ts';

/** The exit code of an extraction: 0, or that of the first failure; that of a missing key only when nothing worse happened. */
export function extractExitCode(result: ExtractResult): number {
  const worst = result.failed.find(({ code }) => code !== 'E_KEY_MISSING') ?? result.failed[0];
  return worst === undefined ? 0 : exitCodeOf(worst.code);
}

/** Files fail for few reasons; what to do is told once for each. */
const maxHints = 5;

/** The result in words: a line of figures, then the files that failed. */
export function renderExtract(result: ExtractResult, to: string): string {
  const { files, bytes, skipped, failed, unsure = [] } = result;
  const already = skipped > 0 ? `, ${formatCount(skipped)} were there already` : '';
  const lines = [`${plural(files, 'file', 'files')} (${formatBytes(bytes)}) extracted to ${to}${already}`];
  if (unsure.length > 0) lines.push(...unsureLines(unsure));
  if (failed.length > 0) lines.push(`${formatCount(countRows(failed))} not extracted:`);
  for (const { name, message, key, count = 1 } of failed)
    if (key === undefined) lines.push(problemLine(name, `${message}${andOthers(count)}`));
  lines.push(...missingKeyLines(failed));
  const hints = new Set(failed.flatMap(({ hint }) => hint ?? []));
  for (const hint of [...hints].slice(0, maxHints)) lines.push(`Try this: ${printable(hint)}`);
  return lines.join('\n');
}

/** A line for each key that is missing: hundreds of files may need the same one. */
function missingKeyLines(failed: ExtractResult['failed']): string[] {
  const locked = new Map<string, { first: string; count: number }>();
  for (const { name, key, count = 1 } of failed) {
    if (key === undefined) continue;
    const known = locked.get(key);
    if (known === undefined) locked.set(key, { first: name, count });
    else known.count += count;
  }
  return [...locked].map(
    ([key, { first, count }]) => `  key ${key} is not known: ${printable(first)}${andOthers(count)}`,
  );
}

function andOthers(count: number): string {
  return count === 1 ? '' : ` and ${plural(count - 1, 'other', 'others')}`;
}
