import { expect, test } from '@jest/globals';
import { waitForAll } from '../../src/core/wait-for-all.ts';

test('results come in the order of the work', async () => {
  const late = new Promise<number>((resolve) => setTimeout(resolve, 5, 1));
  expect(await waitForAll(late, Promise.resolve('two'))).toEqual([1, 'two']);
});

test('the first error in that order is thrown when all has ended', async () => {
  let ended = false;
  const slow = new Promise<void>((_, reject) => {
    setTimeout(() => {
      ended = true;
      reject(new Error('first'));
    }, 20);
  });
  await expect(waitForAll(slow, Promise.reject(new Error('second')))).rejects.toThrow('first');
  expect(ended).toBe(true);
});
