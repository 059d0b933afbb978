// Lists of the keys that encrypted chunks need.
//
//   key list (TACTKeys):  FA505078126ACB3E BDC51862ABED79B2DE48C8E7E66C6200 more fields …   # and blank lines are skipped
//   key ring config:      key-3ecb6a12785050fa = bdc51862abed79b2de48c8e7e66c6200
//
// The trap: a key name is a little-endian number. Lists print the number; a key ring (like an espec, and a chunk itself)
// has its bytes as they lie on the wire, so the same name reads backwards there. Inside pakrat a name is always as printed.
// Checked on the rings of World of Warcraft and Overwatch: their keys are found in the public list only when reversed.

import { formatError, type PakratError } from '../../core/errors.ts';
import type { Format } from '../format.ts';
import { firstLine, joinText, lineNumber, plainFrame, quoteLine, splitText } from '../text-lines.ts';
import { decodeConfig, encodeConfig } from './config-file.ts';

/** Told by its first line. */
export const keyListFormat: Format = {
  name: 'key list',
  matches: (head) => /^\s*[0-9a-f]{16}\s+[0-9a-f]{32}(\s|$)/i.test(firstLine(head)),
};

/** Told by its first line. */
export const keyRingFormat: Format = {
  name: 'key ring config',
  matches: (head) => /^key-[0-9a-f]{16}\s*=/i.test(firstLine(head)),
};

/** A key for encrypted chunks. */
export interface TactKey {
  /** 16 lower-case hex digits, in the order in which key lists print them. */
  readonly name: string;
  /** 32 lower-case hex digits: the 16 bytes as used. */
  readonly key: string;
  /** Further fields of the line, as written. */
  readonly extra?: readonly string[];
}

/** Reads a key list. @throws E_FORMAT with the line number, at the first line that is no key */
export function decodeKeyList(bytes: Uint8Array): TactKey[] {
  const { lines, frame } = splitText(bytes, 'key list', { passesOver: (line) => /^\s*(#|$)/.test(line) });
  return lines.map((line, i) => {
    const [name = '', key = '', ...extra] = line.trim().split(/\s+/);
    if (!isKey(name, key)) throw noKey(`key list line ${lineNumber(frame, i)}`, line);
    return { name: name.toLowerCase(), key: key.toLowerCase(), ...(extra.length > 0 && { extra }) };
  });
}

/**
 * Writes a key list: a line per key, upper-case hex, as TACTKeys has it. Comments, blank lines and other spacing of a list that was read
 * are not kept: they are of no key.
 */
export function encodeKeyList(keys: readonly TactKey[]): Uint8Array {
  const lines = keys.map(({ name, key, extra = [] }) => [name.toUpperCase(), key.toUpperCase(), ...extra].join(' '));
  return joinText(lines, plainFrame);
}

/** Reads a key ring config, the keys that a build brings along. Throws E_FORMAT when a line is no key. */
export function decodeKeyRing(bytes: Uint8Array): TactKey[] {
  return decodeConfig(bytes).entries.map(({ key: line, values }) => {
    const wireName = line.startsWith('key-') ? line.slice(4) : '';
    const [key = ''] = values;
    if (!isKey(wireName, key)) throw noKey('key ring', line);
    return { name: reverseName(wireName.toLowerCase()), key: key.toLowerCase() };
  });
}

/** Writes a key ring config, without a title: a line per key, lower-case hex. Comments of a ring that was read are not kept, nor a last line without an end. */
export function encodeKeyRing(keys: readonly TactKey[]): Uint8Array {
  return encodeConfig({ entries: keys.map(({ name, key }) => ({ key: `key-${reverseName(name)}`, values: [key] })) });
}

/** A key name between wire order and printed order; the same both ways. */
export function reverseName(name: string): string {
  return (name.match(/../g) ?? []).reverse().join('');
}

function isKey(name: string, key: string): boolean {
  return /^[0-9a-f]{16}$/i.test(name) && /^[0-9a-f]{32}$/i.test(key);
}

function noKey(what: string, line: string): PakratError {
  return formatError('E_FORMAT', what, 'no key', { expected: '16 and 32 hex digits', found: quoteLine(line) });
}
