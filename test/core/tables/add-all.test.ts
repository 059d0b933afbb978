import { expect, test } from '@jest/globals';
import { addAll } from '../../../src/core/tables/add-all.ts';

test('more items are added than a call takes arguments', () => {
  const list = ['first'];
  const items = Array.from({ length: 300_000 }, (_, i) => `${i}`);
  expect(() => [].push(...(items as never[]))).toThrow(RangeError);
  addAll(list, items);
  expect(list).toEqual(['first', ...items]);
});
