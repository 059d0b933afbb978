// Lists of the keys that encrypted chunks need.
//
//   key list (TACTKeys):  FA505078126ACB3E BDC51862ABED79B2DE48C8E7E66C6200 more fields …   # and blank lines are skipped
//   key ring config:      key-3ecb6a12785050fa = bdc51862abed79b2de48c8e7e66c6200
//
// The trap: a key name is a little-endian number. Lists print the number; a key ring (like an espec, and a chunk itself)
// has its bytes as they lie on the wire, so the same name reads backwards there. Inside pakrat a name is always as printed.
// Checked on the rings of World of Warcraft and Overwatch: their keys are found in the public list only when reversed.

import { formatError } from '../../core/errors.ts';
import { quoteLine, textLines } from '../text-lines.ts';
import { decodeConfig } from './config-file.ts';

/** A key for encrypted chunks. */
export interface TactKey {
  /** 16 lower-case hex digits, in the order in which key lists print them. */
  readonly name: string;
  /** 32 lower-case hex digits: the 16 bytes as used. */
  readonly key: string;
  /** Further fields of the line, as written. */
  readonly extra?: readonly string[];
}

/**
 * Reads a key list.
 * @throws E_FORMAT with the line number, at the first line that is no key
 */
export function decodeKeyList(bytes: Uint8Array): TactKey[] {
  const keys: TactKey[] = [];
  for (const [i, line] of textLines(bytes, 'key list').entries()) {
    if (line.trim() === '' || line.trim().startsWith('#')) continue;
    const [name = '', key = '', ...extra] = line.trim().split(/\s+/);
    checkKey(name, key, `key list line ${i + 1}`, line);
    keys.push({ name: name.toLowerCase(), key: key.toLowerCase(), ...(extra.length > 0 && { extra }) });
  }
  return keys;
}

/** Writes a key list: a line per key, upper-case hex, as TACTKeys has it. */
export function encodeKeyList(keys: readonly TactKey[]): Uint8Array {
  const lines = keys.map(({ name, key, extra = [] }) => [name.toUpperCase(), key.toUpperCase(), ...extra].join(' '));
  return new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''));
}

/**
 * Reads a key ring config, the keys that a build brings along.
 * @throws E_FORMAT when it is no config or a line is no key
 */
export function decodeKeyRing(bytes: Uint8Array): TactKey[] {
  return decodeConfig(bytes).entries.map(({ key: line, values }) => {
    const wireName = line.startsWith('key-') ? line.slice(4) : '';
    const key = values[0] ?? '';
    checkKey(wireName, key, 'key ring', line);
    return { name: reverseName(wireName.toLowerCase()), key: key.toLowerCase() };
  });
}

/** A key name between wire order and printed order; the same both ways. */
export function reverseName(name: string): string {
  return (name.match(/../g) ?? []).reverse().join('');
}

function checkKey(name: string, key: string, what: string, line: string): void {
  if (/^[0-9a-f]{16}$/i.test(name) && /^[0-9a-f]{32}$/i.test(key)) return;
  throw formatError('E_FORMAT', what, 'no key', { expected: '16 and 32 hex digits', found: quoteLine(line) });
}
