import type { VerifyResult } from '../../app/verify.ts';
import { errorCodes } from '../../core/errors.ts';
import { formatBytes, formatCount, plural } from '../../core/quantities.ts';
import { countRows } from '../../core/tables/bounded-rows.ts';
import { exitCodeOf, exitCodes } from '../error-report.ts';
import { groupedProblems, problemLine, unsureLines } from './problems.ts';

/**
 * 0 when nothing is bad or all was repaired, 3 when something is damaged, 9 when something lacks that is needed to check the rest, else what
 * the first thing that could not be checked says.
 */
export function verifyExitCode({ bad, repaired, unchecked = [] }: VerifyResult): number {
  if (countRows(bad) === repaired) return unchecked.length > 0 ? errorCodes.E_INCOMPLETE : exitCodes.done;
  const isUnchecked = (code: string): boolean => code === 'E_KEY_MISSING' || code === 'E_UNSUPPORTED';
  return bad.every(({ code }) => isUnchecked(code)) ? exitCodeOf(bad[0]?.code) : errorCodes.E_INTEGRITY;
}

/** The result in words. */
export function renderVerify({ checked, bad, repaired, unchecked = [], unsure = [], unproven }: VerifyResult): string {
  const lines = [`${plural(checked.entries, 'entry', 'entries')} (${formatBytes(checked.bytes)}) checked`];
  if (unsure.length > 0) lines.push(...unsureLines(unsure));
  if (unproven !== undefined) {
    const entries = `${plural(unproven.entries, 'entry', 'entries')} (${formatBytes(unproven.bytes)})`;
    lines.push(`${entries} checked by their bounds alone: there are no hashes of them`);
  }
  const isProven = unproven === undefined && unsure.length === 0 && unchecked.length === 0;
  if (bad.length === 0) lines.push(isProven ? 'all right' : 'nothing bad found');
  else lines.push(`${formatCount(countRows(bad))} bad, ${formatCount(repaired)} repaired`);
  for (const { name, message } of groupedProblems(bad))
    lines.push(problemLine(name === '' ? 'directory' : name, message));
  for (const { name, message } of unchecked) lines.push(problemLine(name, message));
  return lines.join('\n');
}
