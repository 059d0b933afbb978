import { expect, test } from '@jest/globals';
import { repeatable } from '../../src/core/reader.ts';

test('items are made anew each time, and no more than are asked for', () => {
  let made = 0;
  const numbers = repeatable(function* () {
    for (let i = 0; i < 3; i++) {
      made++;
      yield i;
    }
  });
  expect([[...numbers], [...numbers]]).toEqual([
    [0, 1, 2],
    [0, 1, 2],
  ]);
  const [first] = numbers;
  expect([first, made]).toEqual([0, 7]);
});
