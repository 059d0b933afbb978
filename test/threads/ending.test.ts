import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Ending } from '../../src/threads/ending.ts';
import { collectGarbage } from '../support/garbage.ts';

const never = (): Promise<never> => new Promise(() => {});

test('work comes to its outcome or its error, as long as the end has not come', async () => {
  const ending = new Ending();
  await expect(ending.before(async () => 'done')).resolves.toBe('done');
  await expect(ending.before(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const waits = [ending.before(never), ending.before(never)];
  ending.come();
  await expect(Promise.all(waits)).resolves.toEqual([undefined, undefined]);
  let isBegun = false;
  const late = ending.before(async () => {
    isBegun = true;
  });
  await expect(late).resolves.toBeUndefined();
  expect(isBegun).toBe(false);
});

test('what work came to is not kept', async () => {
  const ending = new Ending();
  const outcomes: WeakRef<object>[] = [];
  for (let i = 0; i < 10; i++) {
    await ending.before(async () => {
      const outcome = { i };
      outcomes.push(new WeakRef(outcome));
      return outcome;
    });
  }
  await nextTurn();
  collectGarbage();
  expect(outcomes.filter((outcome) => outcome.deref() !== undefined)).toEqual([]);
  ending.come();
});
