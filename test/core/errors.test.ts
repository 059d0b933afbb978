import * as os from 'node:os';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { codeOf, formatError, isPakratError, isSystemError, messageOf, PakratError } from '../../src/core/errors.ts';

describe('PakratError', () => {
  test('carries a code, a hint, data and the cause', () => {
    const cause = new Error('deeper');
    const error = new PakratError('E_STORE', 'it broke', { hint: 'Mend it.', data: { path: '/x' }, cause });
    expect(error).toMatchObject({ code: 'E_STORE', message: 'it broke', hint: 'Mend it.', data: { path: '/x' } });
    expect(error.cause).toBe(cause);
    expect(error.stack).toContain('it broke');
  });

  test('has no cause of its own when none was given', () => {
    const error = new PakratError('E_STORE', 'it broke');
    expect('cause' in error).toBe(false);
    expect(error.data).toEqual({});
  });

  test('is known by its name, also from another realm', () => {
    expect(isPakratError(new PakratError('E_USAGE', 'x'))).toBe(true);
    expect(isPakratError(runInNewContext('Object.assign(new Error("x"), { name: "PakratError" })'))).toBe(true);
    for (const other of [new Error('x'), undefined, null, 'PakratError', 3, {}])
      expect(isPakratError(other)).toBe(false);
  });
});

describe('formatError', () => {
  test('says what, where, what was expected and what was found', () => {
    const error = formatError('E_FORMAT_MAGIC', 'root', 'wrong magic', { offset: 4, expected: 'TSFM', found: 'MFST' });
    expect(error.message).toBe('root: wrong magic at offset 4 (expected TSFM, found MFST)');
    expect(error).toMatchObject({
      code: 'E_FORMAT_MAGIC',
      data: { format: 'root', offset: 4, expected: 'TSFM', found: 'MFST' },
    });
  });

  test('leaves away what is not known', () => {
    expect(formatError('E_FORMAT', 'root', 'is empty').message).toBe('root: is empty');
    expect(formatError('E_FORMAT', 'root', 'odd', { expected: 3 }).message).toBe('root: odd (expected 3)');
    expect(formatError('E_FORMAT', 'root', 'odd', { offset: 0 }).message).toBe('root: odd at offset 0');
  });
});

test.each([
  [os.constants.errno.EDQUOT, 'EDQUOT', 'EDQUOT: disk quota exceeded'],
  [os.constants.errno.EBADMSG, 'EBADMSG', 'EBADMSG: bad message'],
  [os.constants.errno.ESTALE, 'ESTALE', 'ESTALE: stale file handle'],
  // EUCLEAN of Linux.
  ...(process.platform === 'linux' ? [[117, 'EUCLEAN', 'EUCLEAN: structure needs cleaning'] as const] : []),
  [9999, 'E9999', 'E9999: '],
])('an error of the system that Node has no name for, number %d, has one', (number, code, text) => {
  const name = `Unknown system error -${number}`;
  const asynchronous = { errno: -number, code: name, message: `${name}: ${name}, write` };
  const atOnce = { errno: -number, code: 'UNKNOWN', message: 'UNKNOWN: unknown error, write' };
  for (const error of [asynchronous, atOnce]) {
    expect(codeOf(error)).toBe(code);
    expect(messageOf(error)).toMatch(new RegExp(`^${text}.*, write$`));
    expect(isSystemError(error)).toBe(true);
  }
});

test('anything thrown has a text, and a code when it has one', () => {
  expect([
    messageOf(new Error('a')),
    messageOf('b'),
    messageOf(undefined),
    messageOf(null),
    messageOf({ message: 7 }),
  ]).toEqual(['a', 'b', 'undefined', 'null', '7']);
  expect(codeOf(Object.assign(new Error(), { code: 'ENOSPC' }))).toBe('ENOSPC');
  for (const other of [new Error(), { code: 5 }, undefined, null, 'ENOSPC']) expect(codeOf(other)).toBeUndefined();
});
