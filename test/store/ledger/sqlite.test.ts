import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { iterate, openDatabase, prepare } from '../../../src/store/ledger/sqlite.ts';

/** A function of its own, so that nothing of it is on the stack afterwards. */
function handlesOfClosed(): WeakRef<object>[] {
  const db = openDatabase(':memory:');
  const statement = prepare(db, 'SELECT 1 AS one');
  const rows = iterate(statement);
  expect([...rows]).toEqual([{ one: 1 }]);
  db.close();
  return [db, statement, rows].map((handle) => new WeakRef(handle));
}

test('handles are never collected: newer runtimes die of it', async () => {
  const handles = handlesOfClosed();
  const control = new WeakRef({ collected: true });
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // What was just looked at stays until the turn is over.
  await nextTurn();
  collect();
  expect(control.deref()).toBeUndefined();
  expect(handles.map((handle) => handle.deref() === undefined)).toEqual([false, false, false]);
});
