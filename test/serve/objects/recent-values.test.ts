import { expect, test } from '@jest/globals';
import { RecentValues } from '../../../src/serve/objects/recent-values.ts';

test('what was not asked for the longest goes, until the others fit', () => {
  const values = new RecentValues(100);
  for (const key of ['a', 'b', 'c']) values.add(key, { bytes: 30 });
  values.get('a');
  values.add('d', { bytes: 60 });
  expect(['a', 'b', 'c', 'd'].filter((key) => values.get(key) !== undefined)).toEqual(['a', 'd']);
});

test('a value that is larger than all that may stay is there alone, until the next comes', () => {
  const values = new RecentValues(100);
  values.add('small', { bytes: 1 });
  expect(values.add('large', { bytes: 500 })).toEqual({ bytes: 500 });
  expect([values.get('small'), values.get('large')?.bytes]).toEqual([undefined, 500]);
  values.add('next', { bytes: 50 });
  expect([values.get('large'), values.get('next')?.bytes]).toEqual([undefined, 50]);
});
