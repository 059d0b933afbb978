// The text of build, CDN, patch and key ring configs.
//
//   # Build Configuration            comment; readers that want it first in the file exist, so we write it there
//
//   encoding = 4754e358… 6458db70…   key, " = ", values between spaces; a value list may be hundreds of KB (archives)
//   patch-entry = encoding fcf1…     a key may come again
//
// Known from wowdev.wiki (TACT) and checked on real files of 2014 to 2026. A config is named by the MD5 of its bytes.

import { isKeyHex } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import { quoteLine, textLines } from '../text-lines.ts';

/** One line: a key and the values behind it, perhaps none. */
export interface ConfigEntry {
  readonly key: string;
  readonly values: string[];
}

/** A decoded config. */
export interface ConfigFile {
  /** Every line, in order. */
  readonly entries: readonly ConfigEntry[];
  /** The values of the first line with this key. */
  get(key: string): string[] | undefined;
  /** The values of every line with this key, in order. */
  all(key: string): string[][];
}

const format = 'config file';

/**
 * Reads a config.
 * @throws E_FORMAT at the first line that is neither blank, a comment nor `key = values` (an error page, binary data)
 */
export function decodeConfig(bytes: Uint8Array): ConfigFile {
  const entries: ConfigEntry[] = [];
  const byKey = new Map<string, string[][]>();
  for (const line of textLines(bytes, format)) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const entry = decodeLine(line);
    entries.push(entry);
    const lines = byKey.get(entry.key);
    if (lines === undefined) byKey.set(entry.key, [entry.values]);
    else lines.push(entry.values);
  }
  return { entries, get: (key) => byKey.get(key)?.[0], all: (key) => byKey.get(key) ?? [] };
}

function decodeLine(line: string): ConfigEntry {
  const equals = line.indexOf('=');
  const key = line.slice(0, Math.max(equals, 0)).trim();
  if (!/^[\w.:-]+$/.test(key)) {
    throw formatError('E_FORMAT', format, 'not a config', { expected: 'key = value', found: quoteLine(line) });
  }
  return {
    key,
    values: line
      .slice(equals + 1)
      .split(/\s+/)
      .filter((value) => value !== ''),
  };
}

/** Writes a config: the title as comment, a blank line, the entries, LF after each line. */
export function encodeConfig(entries: readonly ConfigEntry[], title: string): Uint8Array {
  const lines = entries.map(({ key, values }) => [key, '=', ...values].join(' '));
  return new TextEncoder().encode(`# ${title}\n\n${lines.map((line) => `${line}\n`).join('')}`);
}

/**
 * A value that must be a key: 32 hex digits, given back in lower case.
 * @param line where it stands, for the message
 * @throws E_FORMAT when it is none
 */
export function configKey(value: string, line: string): string {
  if (!isKeyHex(value)) {
    throw formatError('E_FORMAT', format, `"${line}" is no key`, {
      expected: '32 hex digits',
      found: quoteLine(value),
    });
  }
  return value.toLowerCase();
}

/**
 * A value that must be a size in bytes, decimal.
 * @throws E_FORMAT when it is none
 */
export function configSize(value: string, line: string): number {
  if (!/^\d{1,15}$/.test(value)) {
    throw formatError('E_FORMAT', format, `"${line}" is no size`, {
      expected: 'a decimal number',
      found: quoteLine(value),
    });
  }
  return Number(value);
}
