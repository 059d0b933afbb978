import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Ledger } from '../../../src/store/ledger/ledger.ts';
import { Sqlite } from '../../../src/store/ledger/sqlite.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
let number = 0;
let path: string;
let ledger: Ledger;

beforeEach(() => {
  number += 1;
  path = scratch(`${number}.db`);
  ledger = new Ledger(path);
  ledger.setSetting('one', '1');
  ledger.addKeys([{ name: 'aa', key: 'bb', extra: '', source: 'test' }]);
  ledger.addAnswer('wow', 'versions', { seqn: 1, service: 's', time: 5, body: new Uint8Array([1, 2, 3]) });
});
afterEach(() => ledger.close());

/** Changes rows as a broken disk would: no trigger hears of it. */
function damage(sql: string): void {
  const db = new Sqlite(path);
  const triggers = db.all<{ name: string; sql: string }>("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'");
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
  db.exec(sql);
  for (const trigger of triggers) db.exec(trigger.sql);
  db.close();
}

test('what the ledger itself writes is right: added, changed, removed', () => {
  ledger.setSetting('one', '2');
  ledger.addAnswer('wow', 'versions', { seqn: 1, service: 't', time: 6, body: new Uint8Array([1, 2, 3]) });
  expect(ledger.damagedRows()).toEqual([]);
});

describe('a row', () => {
  test.each([
    ['that is changed', "UPDATE settings SET value = '3'", [{ table: 'settings', key: 'one' }]],
    ['that is gone', 'DELETE FROM settings', [{ table: 'settings', key: 'one' }]],
    ['that nobody wrote', "INSERT INTO settings VALUES ('two', '2')", [{ table: 'settings', key: 'two' }]],
    ['with another key', "UPDATE keys SET key = 'bc'", [{ table: 'keys', key: 'aa' }]],
    ['with another byte', "UPDATE answers SET body = x'010203ff'", [{ table: 'answers', key: 1 }]],
  ] as const)('%s is found, stays found whatever is written to it, and is gone when it is removed', (_, sql, rows) => {
    damage(sql);
    expect(ledger.damagedRows()).toEqual(rows);
    if (sql.startsWith('UPDATE settings')) {
      ledger.setSetting('one', '4');
      expect(ledger.damagedRows()).toEqual(rows);
    }
    for (const row of rows) ledger.removeRow(row);
    expect(ledger.damagedRows()).toEqual([]);
  });
});

test('a ledger of the first schema gets the sums of what it has', () => {
  ledger.close();
  const db = new Sqlite(path);
  const newer = ['sums', 'selections', 'pins', 'forgotten', 'arrivals', 'leaving', 'outbox', 'pulled'];
  for (const { name } of db.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'trigger'"))
    db.exec(`DROP TRIGGER ${name}`);
  for (const table of newer) db.exec(`DROP TABLE ${table}`);
  db.exec('PRAGMA user_version = 1');
  db.close();
  ledger = new Ledger(path);
  expect(ledger.damagedRows()).toEqual([]);
  ledger.setSetting('three', '3');
  expect(ledger.damagedRows()).toEqual([]);
  damage("UPDATE settings SET value = '9' WHERE name = 'one'");
  expect(ledger.damagedRows()).toHaveLength(1);
});
