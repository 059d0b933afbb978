import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { lockStore, Sqlite } from '../../../src/store/ledger/sqlite.ts';
import { builtModule } from '../../support/built-module.ts';
import { runInChild } from '../../support/child.ts';
import { collectGarbage } from '../../support/garbage.ts';
import { runShell } from '../../support/run-pakrat.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();

/** A function of its own, so that nothing of it is on the stack afterwards. */
function handlesOfClosed(): WeakRef<object>[] {
  const handles: WeakRef<object>[] = [];
  const { prepare } = Database.prototype;
  Database.prototype.prepare = function (this: Database.Database, sql: string) {
    const statement = prepare.call(this, sql);
    handles.push(new WeakRef(this), new WeakRef(statement));
    return statement;
  } as typeof prepare;
  try {
    const db = new Sqlite(':memory:');
    expect([...db.iterate('SELECT 1 AS one'), db.get('SELECT 2 AS two')]).toEqual([{ one: 1 }, { two: 2 }]);
    db.close();
  } finally {
    Database.prototype.prepare = prepare;
  }
  return handles;
}

test('handles are never collected: newer runtimes die of it', async () => {
  const handles = handlesOfClosed();
  const control = new WeakRef({ collected: true });
  // What was just looked at stays until the turn is over.
  await nextTurn();
  collectGarbage();
  expect(control.deref()).toBeUndefined();
  expect(handles.map((handle) => handle.deref() === undefined)).toEqual([false, false, false, false]);
});

test('damage that shows while rows are gone through is damage of the store', () => {
  const path = scratch('damaged.db');
  const db = new Sqlite(path);
  db.exec('CREATE TABLE rows (text TEXT)');
  for (let i = 0; i < 300; i++) db.run('INSERT INTO rows VALUES (?)', `${i} `.repeat(100));
  db.close();
  const bytes = fs.readFileSync(path);
  fs.writeFileSync(path, bytes.fill(0xa5, 4096 * 4));
  const damaged = new Sqlite(path);
  const rows = damaged.iterate('SELECT text FROM rows');
  expect(rows.next().done).toBe(false);
  expect(() => [...rows]).toThrow(expect.objectContaining({ code: 'E_STORE_DAMAGED', hint: expect.any(String) }));
  damaged.close();
});

test('another writer and a full disk are told as such, whatever was asked', () => {
  const path = scratch('busy.db');
  const [first, second] = [new Sqlite(path), new Sqlite(path, { timeout: 0 })];
  first.exec('CREATE TABLE rows (text TEXT); BEGIN EXCLUSIVE');
  for (const ask of [() => [...second.iterate('SELECT * FROM rows')], () => second.get('SELECT * FROM rows')]) {
    expect(ask).toThrow(expect.objectContaining({ code: 'E_STORE_LOCKED' }));
  }
  first.exec('COMMIT; PRAGMA max_page_count = 2');
  expect(() => first.run('INSERT INTO rows VALUES (?)', 'long '.repeat(10_000))).toThrow(
    expect.objectContaining({ code: 'E_STORE_FULL' }),
  );
  first.close();
  second.close();
});

const lockModule = builtModule('src/store/ledger/sqlite.ts');

/** Another process that takes the lock with the built program and keeps it. */
function holder(path: string): ReturnType<typeof runInChild> {
  return runInChild(`
    import { lockStore } from '${lockModule}';
    const release = lockStore(${JSON.stringify(path)});
    console.log('locked');
    setInterval(() => release.length, 1000);
  `);
}

test('a second process is refused, and is let in when the first one died', async () => {
  const path = scratch('killed.db');
  const other = holder(path);
  try {
    await other.says('locked');
    expect(() => lockStore(path)).toThrow(
      expect.objectContaining({ code: 'E_STORE_LOCKED', hint: expect.stringContaining('Wait') }),
    );
  } finally {
    await other.kill();
  }
  lockStore(path)();
});

test('the lock is given back, and can be taken again and again', () => {
  const path = scratch('again.db');
  for (let i = 0; i < 3; i++) {
    const release = lockStore(path);
    expect(() => lockStore(path)).toThrow(expect.objectContaining({ code: 'E_STORE_LOCKED' }));
    release();
  }
});

test('a place where no lock can be made is the store’s trouble, not a bug', () => {
  expect(() => lockStore(scratch())).toThrow(expect.objectContaining({ code: 'E_STORE' }));
});

test('a database whose folder was removed at that moment is the store’s trouble, not a bug', () => {
  expect(() => new Sqlite(scratch('gone/ledger.db'))).toThrow(expect.objectContaining({ code: 'E_STORE' }));
});

describe('a lock that is damaged', () => {
  const sqliteHead = (): Buffer => Buffer.concat([Buffer.from('SQLite format 3\0'), randomBytes(5000)]);
  test.each([
    ['empty', Buffer.alloc(0)],
    ['a byte', Buffer.from('x')],
    ['shorter than a page', randomBytes(100)],
    ['a page of nothing', randomBytes(4096)],
    ['large', randomBytes(100_000)],
    ['a head and nothing behind it', sqliteHead()],
    ['zeros', Buffer.alloc(4096)],
  ])('%s: it is taken in place, the file stays the same, and a second one is refused', (title, bytes) => {
    const path = scratch(`${title}.db`);
    fs.writeFileSync(path, bytes);
    const { ino } = fs.statSync(path);
    const release = lockStore(path);
    expect(fs.statSync(path).ino).toBe(ino);
    expect(() => lockStore(path)).toThrow(expect.objectContaining({ code: 'E_STORE_LOCKED' }));
    release();
    lockStore(path)();
  });

  test('while another process holds it: it is still held', async () => {
    const path = scratch('held.db');
    const other = holder(path);
    try {
      await other.says('locked');
      fs.writeFileSync(path, randomBytes(5000));
      expect(() => lockStore(path)).toThrow(expect.objectContaining({ code: 'E_STORE_LOCKED' }));
    } finally {
      await other.kill();
    }
    lockStore(path)();
  });

  test('an empty folder in its place goes, one that is not empty is the error', () => {
    fs.mkdirSync(scratch('folder.db'));
    lockStore(scratch('folder.db'))();
    fs.mkdirSync(scratch('full.db/more'), { recursive: true });
    expect(() => lockStore(scratch('full.db'))).toThrow(
      expect.objectContaining({ code: 'E_STORE', message: expect.stringContaining('full.db') }),
    );
  });
});

test('of a disk that does not write a database it is told that it should be another', () => {
  const list = scratch('list.txt');
  fs.writeFileSync(list, `${'0'.repeat(16)} ${'1'.repeat(32)}\n`);
  // Blocks of 512 bytes: the first pages fit.
  const { stderr } = runShell(`ulimit -f 80; pakrat keys import ${list} --store ${scratch('limited')}; echo $? >&2`);
  expect(stderr).toMatch(/ledger\.db: disk I\/O error\nCode: E_STORE\nTry this: .* can hold a database: .*\n1\n/);
});
