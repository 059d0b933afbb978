import { expect, test } from '@jest/globals';
import { mergeSort } from '../../../src/core/sorting/merge-sort.ts';

/** Keys in many orders: sorted, backwards, any, parts that are sorted, few different ones. */
const orders: Record<string, (i: number) => number> = {
  sorted: (i) => i,
  backwards: (i) => -i,
  any: (i) => (i * 7919) % 1009,
  parts: (i) => (i % 100) * 1000 + Math.floor(i / 100),
  'parts that follow one another': (i) => Math.floor(i / 50) + (i % 3 === 0 ? 500 : 0),
  'few different ones': (i) => (i * 31) % 3,
  equal: () => 1,
  'equal ones in two parts': (i) => Math.max(3, (i % 500) / 20),
};

test.each(Object.keys(orders))('numbers are sorted by what they stand for, equal ones as they came: %s', (name) => {
  for (const count of [0, 1, 2, 3, 17, 1000, 5003]) {
    const keys = Array.from({ length: count }, (_, i) => orders[name]!(i));
    const wanted = keys.map((_, i) => i).sort((a, b) => keys[a]! - keys[b]! || a - b);
    const sorted = mergeSort(
      Uint32Array.from(keys, (_, i) => i),
      (a, b) => keys[a]! - keys[b]!,
    );
    expect([...sorted]).toEqual(wanted);
  }
});
