import { expect, test } from '@jest/globals';
import { IdSet } from '../../../src/core/tables/id-set.ts';
import { codeOf } from '../../support/thrown-code.ts';

const ids = [0, 1, 7, 8, 0xffff, 0x10000, 3_000_000, 0xfffffffe, 0xffffffff];

test('holds what was added, once each, and nothing else; as bytes, too', () => {
  const set = new IdSet();
  for (const id of [...ids, ...ids]) set.add(id);
  for (const held of [set, IdSet.from(set.bytes())]) {
    expect(held.size).toBe(ids.length);
    expect([...held].sort((a, b) => a - b)).toEqual(ids);
    for (const id of [2, 9, 0xfffe, 0x10001, 3_000_001, 0x80000000]) expect(held.has(id)).toBe(false);
    for (const id of ids) expect(held.has(id)).toBe(true);
  }
});

test('bytes that are cut are refused', () => {
  const set = new IdSet();
  set.add(5);
  expect(codeOf(() => IdSet.from(set.bytes().subarray(1)))).toBe('E_FORMAT_TRUNCATED');
});
