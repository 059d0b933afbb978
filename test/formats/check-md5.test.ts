import { expect, test } from '@jest/globals';
import { md5 } from '../../src/core/hash.ts';
import { checkMd5, expectKey } from '../../src/formats/check-md5.ts';

test('bytes are compared with a whole MD5 or the start of one', () => {
  const bytes = Uint8Array.of(1, 2, 3);
  checkMd5(bytes, md5(bytes), 'part');
  checkMd5(bytes, md5(bytes).subarray(0, 8), 'part');
  expect(() => checkMd5(bytes, md5(Uint8Array.of(4)), 'page 3')).toThrow(
    expect.objectContaining({ code: 'E_INTEGRITY', data: expect.objectContaining({ part: 'page 3' }) }),
  );
});

test('a key may be in any case, and another one is told with what was found', () => {
  expectKey('ekey', 'AB', 'ab');
  expect(() => expectKey('ckey', 'ab', 'cd')).toThrow(
    expect.objectContaining({ code: 'E_INTEGRITY', data: { key: 'ab', expected: 'ab', found: 'cd' } }),
  );
});
