import { expect, test } from '@jest/globals';
import { Ledger } from '../../../src/store/ledger/ledger.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

test('one question says how far an object is held', () => {
  const ledger = new Ledger(scratch('reach.db'));
  const { served } = ledger;
  ledger.addSpans('a', [
    { start: 10, end: 20 },
    { start: 30, end: 40 },
  ]);
  ledger.addComplete('b', 50);
  expect([0, 10, 15, 20, 25, 39, 40, 99].map((at) => served.reach('a', at)?.end)).toEqual([
    0, 20, 20, 20, 25, 40, 40, 99,
  ]);
  expect(served.reach('a', 0)?.wholeSize).toBeUndefined();
  expect(served.reach('b', 7)).toEqual({ wholeSize: 50, end: 50 });
  expect(served.reach('c', 0)).toBeUndefined();
  // Each span and object in whole blocks.
  expect(served.blockBytes()).toBe(3 * 4096);
  ledger.close();
});

test('what was pulled is known in the order in which it was last asked for', () => {
  const ledger = new Ledger(scratch('pulled.db'));
  const { served } = ledger;
  served.addPulled('a', [{ start: 0, end: 10 }], 1);
  served.addPulled('a', [{ start: 10, end: 20 }], 2);
  served.addPulled('b', [{ start: 0, end: 5 }], 3);
  served.touchPulled({ path: 'a', start: 3, end: 4 }, 9);
  expect(served.pulled().map(({ path, start }) => `${path} ${start}`)).toEqual(['a 10', 'b 0', 'a 0']);
  served.removePulled({ path: 'b', start: 0, end: 5 });
  expect(served.pulled()).toHaveLength(2);
  ledger.close();
});
