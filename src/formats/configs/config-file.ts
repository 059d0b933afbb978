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
import type { Format } from '../format.ts';
import { joinText, plainFrame, quoteLine, splitText, type TextFrame } from '../text-lines.ts';
import { headIsConfig } from './head-is-config.ts';

/** One line: a key and the values behind it, perhaps none. */
export interface ConfigEntry {
  readonly key: string;
  readonly values: readonly string[];
  /** The line as it was, where it is spaced in another way than we write it. It counts as long as it says the same. */
  readonly text?: string;
}

/** A config to write. */
export interface ConfigContent {
  /** Every line, in order. */
  readonly entries: readonly ConfigEntry[];
  /** The comment on top, for a config without a frame. */
  readonly title?: string;
  /** The comments and blank lines of a config that was read. */
  readonly frame?: TextFrame;
}

/** A decoded config. */
export interface ConfigFile extends ConfigContent {
  /** The values of the first line with this key. */
  get(key: string): readonly string[] | undefined;
  /** The values of every line with this key, in order. */
  all(key: string): readonly (readonly string[])[];
}

const format = 'config file';

/** A config of any kind. */
export const configFormat: Format = { name: 'config', matches: headIsConfig() };

/** Reads a config. Throws E_FORMAT at the first line that is neither blank, a comment nor `key = values`. */
export function decodeConfig(bytes: Uint8Array): ConfigFile {
  const { lines, frame } = splitText(bytes, format, {
    passesOver: (line) => line.trim() === '' || line.startsWith('#'),
  });
  const entries = lines.map(decodeLine);
  const byKey = new Map<string, (readonly string[])[]>();
  for (const { key, values } of entries) {
    const known = byKey.get(key);
    if (known === undefined) byKey.set(key, [values]);
    else known.push(values);
  }
  return { entries, frame, get: (key) => byKey.get(key)?.[0], all: (key) => byKey.get(key) ?? [] };
}

function decodeLine(line: string): ConfigEntry {
  const equals = line.indexOf('=');
  const key = line.slice(0, Math.max(equals, 0)).trim();
  if (!/^[\w.:-]+$/.test(key)) {
    throw formatError('E_FORMAT', format, 'not a config', { expected: 'key = value', found: quoteLine(line) });
  }
  const text = line.slice(equals + 1);
  const values = text.split(/\s+/).filter((value) => value !== '');
  return lineOf({ key, values }) === line ? { key, values } : { key, values, text: line };
}

/**
 * Writes a config. Without a frame: the title as comment, a blank line, the entries, LF after each line.
 * Build, CDN, patch and key ring configs are views of a config: they have it as `config`, and what is written is that.
 */
export function encodeConfig({ entries, title, frame = titleFrame(title) }: ConfigContent): Uint8Array {
  return joinText(entries.map(textOf), frame);
}

function titleFrame(title: string | undefined): TextFrame {
  if (title === undefined) return plainFrame;
  return { ...plainFrame, passedOver: [`# ${title}`, ''].map((text) => ({ after: 0, text })) };
}

function textOf(entry: ConfigEntry): string {
  const line = lineOf(entry);
  return entry.text !== undefined && lineOf(decodeLine(entry.text)) === line ? entry.text : line;
}

function lineOf({ key, values }: ConfigEntry): string {
  return [key, '=', ...values].join(' ');
}

/** A key of 32 hex digits, given back in lower case; `line` is for the message. Throws E_FORMAT for anything else. */
export function configKey(value: string, line: string): string {
  if (!isKeyHex(value)) {
    const facts = { expected: '32 hex digits', found: quoteLine(value) };
    throw formatError('E_FORMAT', format, `"${line}" is no key`, facts);
  }
  return value.toLowerCase();
}

/** A value that must be a size in bytes, decimal. @throws E_FORMAT when it is none */
export function configSize(value: string, line: string): number {
  if (!/^\d{1,15}$/.test(value)) {
    const facts = { expected: 'a decimal number', found: quoteLine(value) };
    throw formatError('E_FORMAT', format, `"${line}" is no size`, facts);
  }
  return Number(value);
}
