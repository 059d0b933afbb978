import { expect, test } from '@jest/globals';
import { exitCodeOf } from '../../src/cli/error-report.ts';

test.each([
  ['E_NETWORK_EXHAUSTED', 1],
  ['E_STORE_FULL', 1],
  ['E_OFFLINE', 1],
  ['E_USAGE', 2],
  ['E_INTEGRITY', 3],
  ['E_NOT_FOUND', 4],
  ['E_FORMAT_TRUNCATED', 5],
  ['E_FORMAT_CHECKSUM', 3],
  ['E_UNSUPPORTED', 6],
  ['E_KEY_MISSING', 7],
  ['E_UNSAFE_PATH', 8],
  ['E_INCOMPLETE', 9],
  ['E_ABORTED', 130],
  ['ENOENT', 70],
  ['toString', 70],
  [undefined, 70],
])('%s exits with %i', (code, exit) => {
  expect(exitCodeOf(code)).toBe(exit);
});
