import * as fs from 'node:fs';
import { afterEach, expect, test } from '@jest/globals';
import type { DiffRow } from '../../../src/sources/diff/diff-table.ts';
import { ListedRows } from '../../../src/sources/diff/listed-rows.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
const temporary = scratch('temporary');
let rows: ListedRows;
afterEach(() => rows.close());

const kinds = ['md5', 'keys', 'sha1'] as const;

/** Rows of all kinds: with and without a name, a number, a mark; names of other letters, and some that are longer than a read. */
function rowOf(number: number): DiffRow {
  const by = kinds[number % 4];
  const key = number.toString(16).padStart(32, '0');
  return {
    name:
      number % 7 === 0
        ? undefined
        : `ordner ä${number % 10}/${'x'.repeat(number % 1000 === 1 ? 70_000 : number % 40)}${number}`,
    fileDataId: number % 7 === 0 ? number : undefined,
    index: number % 5 === 0 ? number : undefined,
    size: number % 3 === 0 ? undefined : number * 1_000_003,
    mark: by === undefined ? undefined : { by, key },
  };
}

function add(from: number, to: number): void {
  for (let number = from; number < to; number++) rows.add(rowOf(number), (number * 0x9e3779b1) >>> 0);
}

/** The same numbers in an order that leaps. */
function shuffled(count: number): number[] {
  return Array.from({ length: count }, (_, i) => (i * 7919) % count);
}

test('few rows come back, and nothing is on disk', () => {
  rows = new ListedRows(temporary);
  add(0, 300);
  expect(Array.from({ length: 300 }, (_, i) => rows.at(i))).toEqual(Array.from({ length: 300 }, (_, i) => rowOf(i)));
  expect(fs.existsSync(temporary)).toBe(false);
});

test('many rows come back in any order, out of a file that goes', () => {
  rows = new ListedRows(temporary);
  const count = 30_000;
  add(0, count);
  expect(rows.count).toBe(count);
  expect(fs.readdirSync(temporary)).toHaveLength(1);
  for (const numbers of [Array.from({ length: count }, (_, i) => i), shuffled(count), [count - 1, 0, count - 1]]) {
    const wrong = numbers.filter((number) => JSON.stringify(rows.at(number)) !== JSON.stringify(rowOf(number)));
    expect(wrong).toEqual([]);
  }
  rows.close();
  expect(fs.readdirSync(temporary)).toEqual([]);
});

test('a row that is longer than all of the memory', () => {
  rows = new ListedRows(temporary);
  const long: DiffRow = { ...rowOf(1), name: 'ö'.repeat(1 << 20) };
  add(0, 10);
  rows.add(long, 1);
  add(11, 20);
  expect(rows.at(10)).toEqual(long);
  expect([rows.at(9), rows.at(11)]).toEqual([rowOf(9), rowOf(11)]);
});

test('hashes, and what is done with, are told', () => {
  rows = new ListedRows(temporary);
  add(0, 1000);
  rows.setDone(500);
  expect([499, 500, 501].map((number) => rows.isDone(number))).toEqual([false, true, false]);
  expect([0, 1, 999].map((number) => rows.hash(number))).toEqual([0, 0x9e3779b1, (999 * 0x9e3779b1) >>> 0]);
  expect(rows.at(500)).toEqual(rowOf(500));
});

test('what cannot be written is trouble of the disk, and says where', () => {
  rows = new ListedRows('/dev/null');
  expect(() => add(0, 30_000)).toThrow(expect.objectContaining({ code: 'E_STORE' }));
});
