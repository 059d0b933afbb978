import { PakratError } from './errors.ts';

/*
 * Sizes are binary throughout, read and written: 1 KiB = 1024 bytes, and `--limit-rate 20M` means 20 MiB a second,
 * as curl and wget take it. The letters with an `i` are written, both ways are read.
 */

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** A size for people: `0 B`, `1023 B`, `1.5 GiB`, `15 MiB`; three digits at most before the unit. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // 1023.5 and more would be written as 1024, which is 1.0 of the next unit.
  while (Math.abs(value) >= 1023.5 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || Math.abs(value) >= 9.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

/** Bytes of a size as a person writes it: `500`, `64K`, `1.5G`, `2TiB`, `20MB/s`; of either case. Throws E_USAGE. */
export function parseSize(text: string): number {
  const match = /^(\d{1,15}(?:\.\d{1,6})?)\s*([kmgtp]?)(?:i?b)?(?:\/s)?$/i.exec(text.trim());
  const bytes =
    match === null
      ? Number.NaN
      : Math.round(Number(match[1]) * 1024 ** ' KMGTP'.indexOf((match[2] || ' ').toUpperCase()));
  if (!Number.isSafeInteger(bytes)) {
    throw new PakratError('E_USAGE', `${JSON.stringify(text)} is not a size`, {
      hint: 'Write it as 500, 64K, 20M or 1.5G (K is 1024 bytes).',
    });
  }
  return bytes;
}

/** A time for people, two units at most: `0.4 s`, `42 s`, `3 min 20 s`, `1 h 5 min`, `2 d 3 h`. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return 'unknown';
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return twoUnits(whole, [60, 'min'], [1, 's']);
  const minutes = Math.round(whole / 60);
  if (minutes < 24 * 60) return twoUnits(minutes, [60, 'h'], [1, 'min']);
  return twoUnits(Math.round(minutes / 60), [24, 'd'], [1, 'h']);
}

function twoUnits(value: number, [size, large]: [number, string], [, small]: [number, string]): string {
  const rest = value % size;
  return `${Math.floor(value / size)} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`;
}

/** A count with what is counted: `1 file`, `2 files`, `1,000 files`. */
export function plural(count: number, one: string, many: string): string {
  return `${formatCount(count)} ${Math.round(count) === 1 ? one : many}`;
}

/** A whole number with a comma every three digits. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}
