import { equalBytes, toHex } from '../core/bytes.ts';
import { PakratError } from '../core/errors.ts';
import { md5 } from '../core/hash.ts';

/**
 * Checks bytes against the MD5, or the first bytes of one, that a table holds for them.
 * @param what names the part, as it should open the sentence ("archive index page 3")
 * @throws E_INTEGRITY when they differ
 */
export function checkMd5(bytes: Uint8Array, expected: Uint8Array, what: string): void {
  const found = md5(bytes).subarray(0, expected.length);
  if (equalBytes(found, expected)) return;
  throw new PakratError('E_INTEGRITY', `${what}: the bytes do not hash to what was promised`, {
    hint: 'The object is damaged; fetch it again.',
    data: { part: what, expected: toHex(expected), found: toHex(found) },
  });
}

/** Throws E_INTEGRITY when an object does not have the key that it goes by. Both are hex. */
export function expectKey(kind: 'ekey' | 'ckey', expected: string, found: string): void {
  if (expected.toLowerCase() === found) return;
  const part = kind === 'ekey' ? 'encoded' : 'decoded';
  const problem = `BLTE object: its ${part} bytes hash to ${found}, not to its ${kind} ${expected}`;
  throw new PakratError('E_INTEGRITY', problem, {
    hint: 'The object is damaged; fetch it again.',
    data: { key: expected, expected, found },
  });
}
