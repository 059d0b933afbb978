import { setImmediate as nextTurn } from 'node:timers/promises';
import { throwIfAborted } from '../core/errors.ts';
import type { WorkOptions } from '../core/progress.ts';
import type { VerifyResult } from '../verify/verify-result.ts';
import type { CheckedObject } from './check-folder.ts';

/** Checks between two turns of the event loop. */
const turnEvery = 64;

/** Adds up the checks of a folder. @param total bytes that will be looked at @throws E_ABORTED */
export async function collectChecks(
  objects: AsyncIterable<CheckedObject> | Iterable<CheckedObject>,
  total: number,
  { signal, onProgress }: WorkOptions,
): Promise<VerifyResult> {
  const result: VerifyResult = { checked: { entries: 0, bytes: 0 }, bad: [], repaired: 0 };
  const { checked } = result;
  for await (const { name, bytes, problem } of objects) {
    throwIfAborted(signal);
    checked.entries += 1;
    checked.bytes += bytes;
    if (problem !== undefined) result.bad.push({ name, ...problem });
    onProgress?.({ type: 'bytes', phase: 'verify', done: checked.bytes, total });
    // Hashing waits for nothing: without this nobody would hear an interruption.
    if (checked.entries % turnEvery === 0) await nextTurn();
  }
  return result;
}
