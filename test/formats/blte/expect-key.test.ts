import { expect, test } from '@jest/globals';
import { expectKey } from '../../../src/formats/blte/expect-key.ts';

test('a key may be in any case, and another one is told with what was found', () => {
  expectKey('ekey', 'AB', 'ab');
  expect(() => expectKey('ckey', 'ab', 'cd')).toThrow(
    expect.objectContaining({ code: 'E_INTEGRITY', data: { key: 'ab', expected: 'ab', found: 'cd' } }),
  );
});
