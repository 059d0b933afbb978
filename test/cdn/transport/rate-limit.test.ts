import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { rateLimit, unlimited } from '../../../src/cdn/transport/rate-limit.ts';

test('no limit never waits', () => {
  expect(unlimited.take(1e12)).toBe(0);
});

test('bytes are spread over the time they may take', () => {
  let now = 0;
  const limit = rateLimit(1000, () => now);
  expect(limit.take(500)).toBe(500);
  now = 500;
  expect(limit.take(250)).toBe(250);
  expect(limit.take(250)).toBe(500);
});

test('a pause pays for a quarter of a second, not for more', () => {
  let now = 0;
  const limit = rateLimit(1000, () => now);
  now = 60_000;
  expect(limit.take(250)).toBe(0);
  expect(limit.take(1000)).toBe(1000);
});

test('all takers together keep to the rate, whatever the sizes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 100, size: 'max' }),
      (sizes) => {
        let now = 0;
        let taken = 0;
        const limit = rateLimit(10_000, () => now);
        for (const size of sizes) {
          now += limit.take(size);
          taken += size;
          expect((taken / 10_000) * 1000).toBeLessThanOrEqual(now + 250 + 1);
        }
      },
    ),
  );
});
