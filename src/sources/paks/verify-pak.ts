import { getRow } from '../../paks/get-row.ts';
import type { VerifyWork } from '../../paks/pak.ts';
import type { VerifyProblem, VerifyResult } from '../../verify/verify-result.ts';
import type { PakSource } from './pak-source.ts';
import { runPakTasks } from './run-pak-tasks.ts';

/** The depth of a check, the number of threads for it, and the hooks that hear of it. */
export interface VerifyOptions extends VerifyWork {
  threads?: number | undefined;
  signal?: AbortSignal | undefined;
  onPlan?: ((files: number, bytes: number) => void) | undefined;
  onEntry?: ((bytes: number) => void) | undefined;
}

/**
 * Checks the directory of a PAK and every entry in it, hidden ones too, as far as the format allows.
 * @throws E_KEY_MISSING when the directory is locked, E_ABORTED
 */
export async function verifyPak(source: PakSource, options: VerifyOptions = {}): Promise<VerifyResult> {
  const { pak } = source;
  const result: VerifyResult = { checked: { entries: 0, bytes: 0 }, bad: [], repaired: 0 };
  const directory = await pak.verifyDirectory();
  if (directory !== undefined) result.bad.push({ name: '', ...directory });
  const tasks = pak.entries.map(({ index, storedSize }) => ({ index, size: storedSize, path: '' }));
  options.onPlan?.(
    tasks.length,
    tasks.reduce((sum, { size }) => sum + size, 0),
  );
  const nameOf = (index: number): string => getRow(pak.entries, { index }).name;
  const found: (VerifyProblem & { index: number })[] = [];
  await runPakTasks(source, { kind: 'verify', decode: options.decode }, tasks, {
    threads: options.threads,
    signal: options.signal,
    onResult({ index }, { bytes, problem, unsure, unproven }) {
      result.checked.entries += 1;
      result.checked.bytes += bytes;
      if (problem !== undefined) found.push({ name: nameOf(index), index, ...problem });
      if (unsure === true) {
        result.unsure ??= [];
        result.unsure.push(nameOf(index));
      }
      if (unproven === true) {
        result.unproven ??= { entries: 0, bytes: 0 };
        result.unproven.entries += 1;
        result.unproven.bytes += bytes;
      }
      options.onEntry?.(bytes);
    },
  });
  // Threads end in any order; reports should not.
  result.bad.push(...found.sort((a, b) => a.index - b.index));
  return result;
}
