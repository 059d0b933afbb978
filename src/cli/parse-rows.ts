import { PakratError } from '../core/errors.ts';

/**
 * Numbers of rows as a person writes them: `7`, `10-19`, `1000-`.
 * @throws E_USAGE when they are none
 */
export function parseRows(text: string): { first: number; last: number } {
  const match = /^(\d{1,10})(-(\d{0,10}))?$/.exec(text.trim());
  const first = Number(match?.[1]);
  const last = match?.[2] === undefined ? first : match[3] === '' ? Number.MAX_SAFE_INTEGER : Number(match[3]);
  if (match === null || last < first) {
    throw new PakratError('E_USAGE', `${JSON.stringify(text)} are no rows`, {
      hint: 'Write them as 7, 10-19 or 1000-, counted from 0.',
    });
  }
  return { first, last };
}
