import type { ExtractResult } from '../../app/extract.ts';
import { formatBytes, formatCount, plural } from '../../core/quantities.ts';
import { exitCodeOf } from '../exit-codes.ts';
import { printable } from '../terminal/text.ts';

/** What an extraction exits with: 0, or what the first failure would exit with; a missing key only when nothing worse happened. */
export function extractExitCode(result: ExtractResult): number {
  const worst = result.failed.find(({ code }) => code !== 'E_KEY_MISSING') ?? result.failed[0];
  return worst === undefined ? 0 : exitCodeOf(worst.code);
}

/** The result in words: a line of figures, then the files that failed. */
export function renderExtract(result: ExtractResult, to: string): string {
  const { files, bytes, skipped, failed, unsure = [] } = result;
  const already = skipped > 0 ? `, ${formatCount(skipped)} were there already` : '';
  const lines = [`${plural(files, 'file', 'files')} (${formatBytes(bytes)}) extracted to ${to}${already}`];
  if (unsure.length > 0) lines.push(...unsureLines(unsure));
  if (failed.length > 0) lines.push(`${formatCount(failed.length)} not extracted:`);
  for (const { name, message } of failed) lines.push(problemLine(name, message));
  return lines.join('\n');
}

/** What is wrong with a file, on one line that a terminal shows as it is: names come from outside. Messages often start with the name. */
export function problemLine(name: string, message: string): string {
  const isNamed = message.startsWith(`${name}:`) || message.startsWith(`${name} `);
  return `  ${printable(isNamed ? message : `${name}: ${message}`)}`;
}

/** Files that may be wrong although nothing tells, in words. */
export function unsureLines(names: readonly string[]): string[] {
  return [
    `${formatCount(names.length)} may be wrong, for nothing tells whether they were decrypted right (feedback unverified):`,
    ...names.map((name) => `  ${printable(name)}`),
  ];
}
