import { PakratError } from '../core/errors.ts';
import { parseSize } from '../core/quantities.ts';

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
