import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ShortMessages } from '../../../src/codecs/md5-lanes/short-messages.ts';
import { toHex } from '../../../src/core/bytes.ts';
import { randomBytes } from '../../fetch/archive.ts';

const givenBytes = 16_384;
const messages = ShortMessages.create({ givenBytes, paddedBytes: 65_536 })!;

/** Hashes stretches of the same bytes, and compares with a hash that is not ours. */
function check(stretches: readonly (readonly [offset: number, size: number])[], seed = 1): void {
  const content = randomBytes(givenBytes, seed);
  messages.given.set(content);
  for (const [offset, size] of stretches) expect(messages.add(offset, size)).toBe(true);
  const expected = stretches.map(([offset, size]) =>
    createHash('md5')
      .update(content.subarray(offset, offset + size))
      .digest('hex'),
  );
  expect(toHex(messages.digest())).toBe(expected.join(''));
}

test('of every size around the ends of blocks', () => {
  check(Array.from({ length: 200 }, (_, size) => [size, size]));
});

test('for any number of them, and for none', () => {
  for (let count = 0; count < 20; count++) check(Array.from({ length: count }, (_, i) => [i * 100, 90]));
});

test('of any sizes in any order, which may overlap', () => {
  const stretch = fc.tuple(fc.nat(givenBytes - 1), fc.nat(1000)).map(([offset, size]) => {
    return [offset, Math.min(size, givenBytes - offset)] as const;
  });
  fc.assert(
    fc.property(fc.array(stretch, { maxLength: 50 }), fc.nat(100), (stretches, seed) => check(stretches, seed)),
    { numRuns: 60 },
  );
});

test('what finds no room is not taken, and what was is hashed right', () => {
  messages.given.fill(7);
  let count = 0;
  while (messages.add(0, 1000)) count += 1;
  expect(count).toBe(65_536 / 1024);
  const digest = createHash('md5').update(Buffer.alloc(1000, 7)).digest('hex');
  expect(toHex(messages.digest())).toBe(digest.repeat(count));
  check([[0, 1000]]);
});
