import { isPakratError } from '../../src/core/errors.ts';

/** The code of the error that `run` throws; `none` when it throws nothing, `stray …` when the error is none of ours. */
export function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return isPakratError(error) ? error.code : `stray ${error}`;
  }
  return 'none';
}
