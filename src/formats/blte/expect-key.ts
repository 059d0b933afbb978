import { PakratError } from '../../core/errors.ts';

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
