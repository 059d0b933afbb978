import { expect, test } from '@jest/globals';
import { entryTable } from '../../../src/core/tables/entry-table.ts';
import { RecordTable } from '../../../src/core/tables/record-table.ts';

test('rows stay bytes, and become entries one at a time', () => {
  let decoded = 0;
  const table = entryTable(new RecordTable(Uint8Array.of(1, 2, 3, 4), 2), ([high = 0, low = 0]) => {
    decoded++;
    return high * 256 + low;
  });
  expect([table.count, table.rows.stride, decoded]).toEqual([2, 2, 0]);
  expect([table.entry(1), decoded]).toEqual([772, 1]);
  expect([...table.entries]).toEqual([258, 772]);
});
