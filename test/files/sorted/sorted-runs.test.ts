import { readdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { SortedRuns } from '../../../src/files/sorted/sorted-runs.ts';
import { LookupFile, writeLookupFile } from '../../../src/store/derived/lookup-file.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

test('rows of several runs come out in order, equal ones as they came, also when some are added meanwhile', async () => {
  const count = 600_000;
  const runs = new SortedRuns(scratch('tmp'), { stride: 8, keySize: 4 });
  const add = (key: number, value: number): void => {
    const row = runs.add();
    row.writeUInt32BE(key, 0);
    row.writeUInt32BE(value, 4);
  };
  for (let i = 0; i < count; i++) add((i * 2_654_435_761) % 250_007, i);
  const read = (onRow: (key: number, value: number) => void): void => {
    for (const row of runs.rows()) onRow(Buffer.from(row).readUInt32BE(0), Buffer.from(row).readUInt32BE(4));
  };
  let seen = 0;
  let last = [-1, -1];
  read((key, value) => {
    if (key < last[0]! || (key === last[0] && value < last[1]!)) throw new Error(`${key} ${value} after ${last}`);
    last = [key, value];
    seen += 1;
    if (seen % 2 === 0) add(key, count + seen);
  });
  expect(seen).toBe(count);
  let sum = 0;
  read(() => {
    sum += 1;
  });
  expect(sum).toBe(count * 1.5);

  expect(await writeLookupFile(scratch('rows'), { stride: 8, rows: runs.rows() }, scratch('tmp'))).toBe(sum);
  runs.close();
  expect(readdirSync(scratch('tmp'))).toEqual([]);
  const file = new LookupFile(scratch('rows'), { stride: 8 });
  expect(file.count).toBe(sum);
  expect([...file.find(Buffer.from([0, 0, 0, 9]))].length).toBeGreaterThan(2);
  file.close();
});

test.each([0, 1, 32_767, 32_768, 32_769])('%i rows make a look-up file', async (count) => {
  const rows = Array.from({ length: count }, (_, i) => Uint8Array.of(i >> 16, i >> 8, i));
  await writeLookupFile(scratch(`f${count}`), { stride: 3, rows }, scratch('tmp'));
  const file = new LookupFile(scratch(`f${count}`), { stride: 3 });
  expect(file.count).toBe(count);
  if (count > 0) expect([...file.find(rows.at(-1)!)]).toHaveLength(1);
  file.close();
});
