import { expect, test } from '@jest/globals';
import { BoundedRows, type CountedRow, countRows } from '../../../src/core/tables/bounded-rows.ts';

interface Row extends CountedRow {
  name: string;
}

function rowsOf(list: Row[]): BoundedRows<Row> {
  return new BoundedRows(list, (row) => [row.name, { ...row, name: `all of ${row.name}` }]);
}

test('ten thousand things have a row each, and those after them share rows with what is alike', () => {
  const list: Row[] = [];
  const rows = rowsOf(list);
  for (let i = 0; i < 10_000; i++) rows.add({ name: `n${i}`, message: 'wrong' });
  expect(list.map(({ count }) => count)).toEqual(Array.from({ length: 10_000 }, () => undefined));
  for (let i = 0; i < 30; i++) rows.add({ name: i % 3 === 0 ? 'a' : 'b', message: i < 20 ? 'wrong' : 'gone' });
  for (let i = 0; i < 4; i++) rows.add({ name: 'c', message: 'wrong' });
  expect(list.slice(10_000)).toEqual([
    { name: 'all of a', message: 'wrong (others differ)', count: 10 },
    { name: 'all of b', message: 'wrong (others differ)', count: 20 },
    { name: 'all of c', message: 'wrong', count: 4 },
  ]);
  expect(countRows(list)).toBe(10_034);
});

test('rows that stand for several keep their number', () => {
  const list: Row[] = [];
  const rows = rowsOf(list);
  rows.add({ name: 'first', message: 'wrong', count: 7 });
  for (let i = 1; i < 10_000; i++) rows.add({ name: `n${i}`, message: 'wrong' });
  for (const count of [3, 4]) rows.add({ name: 'a', message: 'wrong', count });
  expect(list.at(-1)).toEqual({ name: 'all of a', message: 'wrong', count: 7 });
  expect(countRows(list)).toBe(10_013);
});
