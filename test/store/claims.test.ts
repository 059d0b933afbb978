import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Claims } from '../../src/store/claims.ts';
import { Sqlite } from '../../src/store/ledger/sqlite.ts';
import { builtModule } from '../support/built-module.ts';
import { runInChild } from '../support/child.ts';
import { scratchFolder } from '../support/scratch.ts';
import { describeTmpfs, fillDisk, withTmpfs } from '../support/tmpfs.ts';

const scratch = scratchFolder();
const module = builtModule('src/store/claims.ts');
let file: string;
let claims: Claims;
let number = 0;
beforeEach(() => {
  number += 1;
  file = scratch(`store${number}`, 'claims.db');
  claims = new Claims(file);
});
afterEach(() => claims.close());

/** A process that claims the first ten bytes of an object. */
async function claimant(): Promise<ReturnType<typeof runInChild>> {
  const child = runInChild(`
    const { Claims } = await import(${JSON.stringify(module)});
    console.log(new Claims(${JSON.stringify(file)}).take('a', 0, 10) === undefined ? 'refused' : 'taken');
    setTimeout(() => {}, 30000);
  `);
  await child.says('taken');
  return child;
}

test('a stretch is claimed once until it is released; others beside it are free', () => {
  const claim = claims.take('a', 10, 20);
  expect(claim).toBeDefined();
  for (const [start, end] of [
    [10, 20],
    [0, 11],
    [19, 30],
    [12, 13],
  ] as const)
    expect(claims.take('a', start, end)).toBeUndefined();
  for (const [path, start, end] of [
    ['a', 0, 10],
    ['a', 20, 30],
    ['b', 10, 20],
  ] as const)
    expect(claims.take(path, start, end)).toBeDefined();
  claim?.release();
  expect(claims.take('a', 10, 20)).toBeDefined();
});

test('another process is refused, and has it as soon as this one is killed', async () => {
  const child = await claimant();
  expect(claims.take('a', 5, 6)).toBeUndefined();
  await child.kill();
  expect(claims.take('a', 5, 6)).toBeDefined();
});

test('a claim of another host is void when it is not renewed', () => {
  const db = new Sqlite(file);
  const claim = (path: string, ago: number): unknown =>
    db.run(
      `INSERT INTO claims (path, start, end, owner, time) VALUES ('${path}', 0, 10, '1-abc-00000000', ${Date.now() - ago})`,
    );
  claim('fresh', 1_000);
  claim('old', 60_000);
  db.close();
  expect(claims.take('fresh', 0, 10)).toBeUndefined();
  expect(claims.take('old', 0, 10)).toBeDefined();
});

let whole: Buffer;
const zeroed = (bytes: Buffer, from: number, size: number): Buffer => {
  expect(bytes.length).toBeGreaterThan(from + size);
  return Buffer.from(bytes).fill(0, from, from + size);
};

test.each([
  ['damaged', () => fs.writeFileSync(file, Buffer.alloc(4096, 'no database '))],
  ['damaged in their index', () => fs.writeFileSync(file, zeroed(whole, 8024, 512))],
  ['a folder', () => fs.mkdirSync(join(file, 'more'), { recursive: true })],
  ['a file whose log is a folder', () => fs.mkdirSync(`${file}-wal`)],
])('claims that are %s are made anew', (_, damage) => {
  for (let i = 0; i < 40; i++) claims.take(`a/${i}`, 0, 10);
  claims.close();
  whole = fs.readFileSync(file);
  fs.rmSync(file);
  damage();
  claims = new Claims(file);
  expect(claims.take('a', 0, 10)).toBeDefined();
});

test('what is claimed is listed, whoever fetches it; of the dead nothing is', async () => {
  expect(claims.list()).toEqual([]);
  const claim = claims.take('b', 5, 7);
  const child = await claimant();
  expect(claims.list()).toEqual([
    { path: 'a', start: 0, end: 10 },
    { path: 'b', start: 5, end: 7 },
  ]);
  await child.kill();
  expect(claims.list()).toEqual([{ path: 'b', start: 5, end: 7 }]);
  claim?.release();
  expect(claims.list()).toEqual([]);
});

describeTmpfs('on a full disk', () => {
  test('a claim is released without a word, and keeps nobody of its process once there is room', async () => {
    await withTmpfs('1m', async (folder, resize) => {
      const full = new Claims(join(folder, 'claims.db'));
      try {
        const claim = full.take('a', 0, 10);
        expect(claim).toBeDefined();
        fillDisk(folder);
        expect(() => full.take('b', 0, 10)).toThrow(expect.objectContaining({ code: 'E_STORE_FULL' }));
        claim!.release();
        resize('4m');
        expect(full.list()).toHaveLength(1);
        const again = full.take('a', 0, 10);
        expect(again).toBeDefined();
        expect(full.take('a', 5, 6)).toBeUndefined();
        again!.release();
      } finally {
        full.close();
      }
    });
  });
});
