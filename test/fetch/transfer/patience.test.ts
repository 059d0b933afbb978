import { describe, expect, test } from '@jest/globals';
import { Patience } from '../../../src/fetch/transfer/patience.ts';

const mib = 1024 * 1024;

describe('Patience', () => {
  test('is for 64 MiB of wrong bytes, and for as many more as came right', () => {
    const patience = new Patience();
    const first = patience.take(40 * mib);
    const second = patience.take(40 * mib);
    expect([first, second, patience.take(1)]).toEqual([40 * mib, 24 * mib, 0]);
    patience.settle(first, { wrong: 40 * mib, right: 0 });
    expect(patience.take(1)).toBe(0);
    patience.settle(second, { wrong: 20 * mib, right: 3 * mib });
    expect(patience.take(100 * mib)).toBe(7 * mib);
  });

  test('ends where more came wrong than it was for, until that came right', () => {
    const patience = new Patience();
    patience.settle(0, { wrong: 70 * mib, right: 0 });
    expect(patience.take(mib)).toBe(0);
    patience.settle(0, { wrong: 0, right: 7 * mib });
    expect(patience.take(2 * mib)).toBe(mib);
  });
});
