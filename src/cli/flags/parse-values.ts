import { PakratError } from '../../core/errors.ts';
import { parseSize } from '../../core/quantities.ts';

/** `--limit-rate` in bytes a second. @throws E_USAGE */
export function parseRate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const rate = parseSize(text);
  if (rate < 1) throw new PakratError('E_USAGE', '--limit-rate must be above zero');
  return rate;
}

/** `--tags` as a list. @throws E_USAGE when it names none: that would be the whole build */
export function parseTags(text: string | undefined): string[] {
  const tags = (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  if (text !== undefined && tags.length === 0) {
    throw new PakratError('E_USAGE', '--tags names no tag', { hint: 'Leave it away for the whole build.' });
  }
  return tags;
}

/** Numbers of rows as a person writes them, both ends included: `7`, `10-19`, `1000-`. @throws E_USAGE when they are none */
export function parseRows(text: string): { first: number; last: number } {
  const [, start, range, end] = /^(\d{1,10})(-(\d{0,10}))?$/.exec(text.trim()) ?? [];
  const first = Number(start);
  const last = range === undefined ? first : Number(end || Number.MAX_SAFE_INTEGER);
  if (first <= last) return { first, last };
  throw new PakratError('E_USAGE', `${JSON.stringify(text)} are no rows`, {
    hint: 'Write them as 7, 10-19 or 1000-, counted from 0.',
  });
}
