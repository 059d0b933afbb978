import { errorCodes } from '../core/errors.ts';

/** Exit codes of the process that no error gives. */
export const exitCodes = { done: 0, bug: 70 } as const;

/** The exit code for the `code` of an error; 70 (our bug) for anything that is no code of ours. */
export function exitCodeOf(code: string | undefined): number {
  const codes: Readonly<Record<string, number>> = errorCodes;
  return (code !== undefined && Object.hasOwn(codes, code) ? codes[code] : undefined) ?? exitCodes.bug;
}
