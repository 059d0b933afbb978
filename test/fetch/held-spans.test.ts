import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { EntryPlace } from '../../src/builds/objects.ts';
import { HeldSpans, isHeld } from '../../src/fetch/held-spans.ts';
import { objectPath } from '../../src/store/layout.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const object = { cdnPath: 'tpr/wow', kind: 'data' as const, hash: '1'.repeat(32) };
const path = objectPath(object);
const place = (offset: number, size: number, loose = false): EntryPlace => ({
  ekey: 'a'.repeat(32),
  object,
  loose,
  offset,
  size,
});

let store: Store;
let number = 0;
beforeEach(() => {
  number += 1;
  store = openStore(scratch(`store${number}`), { create: true });
});
afterEach(() => store.close());

test('an entry is held when every byte of it is; before that its start may be', () => {
  store.ledger.addSpans(path, [
    { start: 0, end: 100 },
    { start: 150, end: 300 },
  ]);
  const held = new HeldSpans(store);
  expect([place(0, 100), place(150, 150), place(200, 10)].map((entry) => held.hasEntry(entry))).toEqual([
    true,
    true,
    true,
  ]);
  expect([place(0, 101), place(100, 60), place(290, 20)].map((entry) => held.hasEntry(entry))).toEqual([
    false,
    false,
    false,
  ]);
  expect([place(0, 101), place(100, 60), place(290, 20), place(0, 50)].map((entry) => held.startOf(entry))).toEqual([
    100, 0, 10, 50,
  ]);
});

test('a loose object is held once it has its final name, not while it grows', () => {
  store.ledger.addSpans(path, [{ start: 0, end: 50 }]);
  expect(isHeld(store, place(0, 50, true))).toBe(false);
  expect(new HeldSpans(store).startOf(place(0, 80, true))).toBe(50);
  store.ledger.addComplete(path, 50);
  expect(isHeld(store, place(0, 50, true))).toBe(true);
});

test('spans are read once an object, so that one plan sees one state; isHeld asks anew', () => {
  const held = new HeldSpans(store);
  expect(held.hasEntry(place(0, 100))).toBe(false);
  store.ledger.addSpans(path, [{ start: 0, end: 100 }]);
  expect(held.of(path)).toEqual([]);
  expect(held.hasEntry(place(0, 100))).toBe(false);
  expect(isHeld(store, place(0, 100))).toBe(true);
});
