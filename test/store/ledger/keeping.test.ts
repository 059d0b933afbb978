import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Ledger } from '../../../src/store/ledger/ledger.ts';
import type { BuildIdentity } from '../../../src/store/ledger/rows.ts';
import { Sqlite } from '../../../src/store/ledger/sqlite.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
let number = 0;
let path: string;
let ledger: Ledger;

const build: BuildIdentity = {
  product: 'wow',
  name: '1.0',
  buildId: '1',
  buildConfig: 'b1',
  cdnConfig: 'c1',
  productConfig: null,
  keyRing: null,
  region: 'us',
  cdnPath: 'tpr/wow',
  configPath: 'tpr/configs/data',
  hosts: [],
};

beforeEach(() => {
  number += 1;
  path = scratch(`${number}.db`);
  ledger = new Ledger(path);
});
afterEach(() => ledger.close());

function select(selection: string): void {
  const nothing = { entries: 0, bytes: 0 };
  ledger.setProgress('wow', 'b1', { selection, wanted: nothing, held: nothing });
}

test('every selection of a build is kept, each once, not the last alone', () => {
  ledger.addBuild(build);
  expect(ledger.keeping.selections(build)).toEqual([]);
  for (const selection of ['one', 'two', 'one']) select(selection);
  expect(ledger.keeping.selections(build)).toEqual(['one', 'two']);
});

test('the arrival of a build is the first time that it was asked for, however often it is asked for again', async () => {
  ledger.addBuild(build);
  const first = ledger.keeping.arrival(build);
  expect(first).toBeGreaterThan(Date.now() - 60_000);
  await new Promise((resolve) => setTimeout(resolve, 5));
  ledger.addBuild({ ...build, cdnConfig: 'c2' });
  expect(ledger.keeping.arrival(build)).toBe(first);
});

test('a pin stays until it is taken off, whether the build is there or not', () => {
  expect(ledger.keeping.pin(build)).toBe(true);
  expect(ledger.keeping.pin(build)).toBe(false);
  expect(ledger.keeping.pins()).toEqual([{ product: 'wow', buildConfig: 'b1' }]);
  expect(ledger.keeping.unpin(build)).toBe(true);
  expect(ledger.keeping.unpin(build)).toBe(false);
  expect(ledger.keeping.pins()).toEqual([]);
});

test('a build that is forgotten leaves nothing but its name, and no row that is damaged', () => {
  ledger.addBuild(build);
  select('one');
  ledger.keeping.forget(build);
  expect(ledger.builds()).toEqual([]);
  expect(ledger.keeping.selections(build)).toEqual([]);
  expect(ledger.keeping.forgotten()).toMatchObject([{ product: 'wow', buildConfig: 'b1', cdnPath: 'tpr/wow' }]);
  expect(ledger.damagedRows()).toEqual([]);
  ledger.addBuild(build);
  ledger.keeping.forget(build);
  expect(ledger.keeping.forgotten()).toHaveLength(1);
});

test('a ledger of schema 3 keeps what its builds wanted, and when they came', () => {
  ledger.addBuild(build);
  select('one');
  ledger.close();
  const db = new Sqlite(path);
  const time = db.get<{ time: number }>('SELECT time FROM builds')?.time;
  for (const { name } of db.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'trigger'"))
    if (!/^(builds|answers|keys|settings)_(added|changed|removed)$/.test(name)) db.exec(`DROP TRIGGER ${name}`);
  for (const table of ['selections', 'pins', 'forgotten', 'arrivals', 'leaving', 'outbox', 'pulled'])
    db.exec(`DROP TABLE ${table}`);
  db.exec("DELETE FROM sums WHERE tbl IN ('selections', 'arrivals'); PRAGMA user_version = 3");
  db.close();
  ledger = new Ledger(path);
  expect(ledger.keeping.selections(build)).toEqual(['one']);
  expect(ledger.keeping.arrival(build)).toBe(time);
  expect(ledger.damagedRows()).toEqual([]);
});

test('bytes on their way out are remembered until they are gone', () => {
  ledger.keeping.addLeaving('a', [{ start: 0, end: 4 }]);
  ledger.keeping.addLeaving('b', [{ start: 8, end: 9 }]);
  expect(ledger.keeping.leaving()).toEqual([
    { path: 'a', start: 0, end: 4 },
    { path: 'b', start: 8, end: 9 },
  ]);
  ledger.keeping.left('a');
  expect(ledger.keeping.leaving()).toEqual([{ path: 'b', start: 8, end: 9 }]);
});
