import { PakratError } from '../../core/errors.ts';
import { parseSize } from '../../core/quantities.ts';

/** `--limit-rate` in bytes a second. @throws E_USAGE */
export function parseRate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const rate = parseSize(text);
  if (rate < 1) throw new PakratError('E_USAGE', '--limit-rate must be above zero');
  return rate;
}

/** `--max-size` in bytes. @throws E_USAGE */
export function parseStoreSize(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseSize(text);
}

const units = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000, y: 365 * 86_400_000 } as const;

/** An age or a pause as a person writes it, in milliseconds: `10m`, `12h`, `90d`, `6w`, `1y`. @throws E_USAGE */
export function parseAge(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, number, unit] = /^(\d{1,6}(?:\.\d+)?)\s*([mhdwy])$/i.exec(text.trim()) ?? [];
  if (number !== undefined && unit !== undefined)
    return Number(number) * units[unit.toLowerCase() as keyof typeof units];
  throw new PakratError('E_USAGE', `${JSON.stringify(text)} is no length of time`, {
    hint: 'Write it as 10m, 12h, 90d, 6w or 1y.',
  });
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

/** `--builds`: a number of builds, or all. @throws E_USAGE */
export function parseBuildCount(text: string | undefined): number | 'all' | undefined {
  if (text === undefined || text === 'all') return text;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new PakratError('E_USAGE', `--builds takes a number of builds, or all, not ${JSON.stringify(text)}`);
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
