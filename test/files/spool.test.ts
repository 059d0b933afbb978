import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { Spool } from '../../src/files/spool.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();

/** Fills a spool with rows of odd sizes, a large one among them. */
function fill(spool: Spool, rows: number): Buffer {
  const parts: Buffer[] = [];
  for (let i = 0; i < rows; i++) {
    const part = Buffer.alloc(i === 7 ? 200_000 : 1 + ((i * 7919) % 301), i);
    spool.writer.raw(part);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

test.each([
  ['on disk', 'many', 20_000],
  ['in memory', undefined, 20_000],
  ['a few of them', 'few', 20],
])('gives the bytes back that were written, %s', (_what, folder, rows) => {
  const spool = new Spool(folder && scratch(folder), '.pakrat-');
  const bytes = fill(spool, rows);
  expect(spool.size).toBe(bytes.length);
  for (const _ of [1, 2]) {
    const pieces = [...spool.pieces()];
    expect(pieces.slice(0, -1).every(({ length }) => length === 1 << 16)).toBe(true);
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  }
  spool.writer.u8(1);
  expect(Buffer.concat([...spool.pieces()]).equals(Buffer.concat([bytes, Buffer.of(1)]))).toBe(true);
  const isOnDisk = folder === 'many';
  expect(folder !== undefined && existsSync(scratch(folder))).toBe(isOnDisk);
  if (isOnDisk) expect(readdirSync(scratch('many'))).toEqual([expect.stringMatching(/^\.pakrat-.*\.tmp$/)]);
  spool.close();
  if (isOnDisk) expect(readdirSync(scratch('many'))).toEqual([]);
});

test('nothing gives no pieces', () => {
  expect([...new Spool(undefined).pieces()]).toEqual([]);
});
