import * as fs from 'node:fs';
import { resultUnless } from '../core/errors.ts';

/** Files that are open whatever is done: the runtime's own, the ledger, look-up files, output. */
const alwaysOpen = 36;

let limit: number | undefined;

/** Files that this process may have open at a time; infinite where the system does not tell. */
function openFileLimit(): number {
  const text = resultUnless(
    () => true,
    () => fs.readFileSync('/proc/self/limits', 'latin1'),
  );
  limit ??= Number(/^Max open files\s+(\d+)/m.exec(text ?? '')?.[1] ?? Number.POSITIVE_INFINITY);
  return limit;
}

/**
 * The number of pieces of work that may go on at a time.
 * @param wanted the number where files do not matter
 * @param filesEach files and connections that each has open
 * @param least the number that goes on however few files there are
 */
export function fittingJobs(wanted: number, filesEach: number, least = 1): number {
  return Math.max(least, Math.min(wanted, Math.floor((openFileLimit() - alwaysOpen) / filesEach)));
}
