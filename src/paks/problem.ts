import { isPakratError } from '../core/errors.ts';
import type { PakProblem } from './pak.ts';

/** An error of ours as the fault of what was checked. Throws any other: that is a bug. */
export function problemOf(error: unknown): PakProblem {
  if (!isPakratError(error)) throw error;
  return { code: error.code, message: error.message };
}
