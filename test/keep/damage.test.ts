import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Damage, forgetDamage, needsFetch } from '../../src/keep/damage.ts';
import type { KnownObject } from '../../src/keep/known-objects.ts';
import { objectPath } from '../../src/store/layout.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const known = (hash: string, form: KnownObject['form'], complete: boolean): KnownObject => {
  const name = { cdnPath: 'tpr/wow', kind: 'data' as const, hash: hash.repeat(32) };
  return { path: objectPath(name), name, form, complete, lost: false, size: complete ? 100 : 0 };
};
const archive = known('a', 'archive', false);
const loose = known('b', 'loose', true);
const right = known('c', 'loose', true);

let store: Store;
let derived: string;
let number = 0;
beforeEach(() => {
  number += 1;
  store = openStore(scratch(`store${number}`), { create: true });
  derived = `${store.layout.manifests}/${'d'.repeat(32)}`;
  for (const file of [...[archive, loose, right].map(({ path }) => store.file(path)), derived]) {
    fs.mkdirSync(dirname(file), { recursive: true });
    fs.writeFileSync(file, 'bytes');
  }
  store.ledger.addSpans(archive.path, [{ start: 0, end: 1000 }]);
  store.ledger.addComplete(loose.path, 100);
  store.ledger.addComplete(right.path, 100);
});
afterEach(() => store.close());

const entryFrom = (start: number, end: number): Damage => ({
  kind: 'entries',
  object: archive,
  spans: [{ start, end }],
  count: 1,
  bytes: 200,
});
const damagedObject: Damage = { kind: 'object', object: loose };
const damagedFile = (): Damage => ({ kind: 'derived', file: derived });

test('an entry: its wrong bytes are not held any more, all others are, and the archive stays', () => {
  forgetDamage(store, [entryFrom(150, 300), entryFrom(600, 700)]);
  expect(store.ledger.spans(archive.path)).toEqual([
    { start: 0, end: 150 },
    { start: 300, end: 600 },
    { start: 700, end: 1000 },
  ]);
  expect(fs.existsSync(store.file(archive.path))).toBe(true);
});

test('a whole object: neither ledger nor disk has it, but that it was held is remembered; others stay', () => {
  forgetDamage(store, [damagedObject]);
  expect(store.ledger.completeSize(loose.path)).toBeUndefined();
  expect(fs.existsSync(store.file(loose.path))).toBe(false);
  expect([...store.ledger.objects()].find(({ path }) => path === loose.path)).toMatchObject({
    complete: false,
    lostSize: 100,
  });
  expect(store.ledger.completeSize(right.path)).toBe(100);
  expect(fs.existsSync(store.file(right.path))).toBe(true);
});

test('a derived file is removed: it is made again when it is needed', () => {
  forgetDamage(store, [damagedFile()]);
  expect(fs.existsSync(derived)).toBe(false);
  expect(store.ledger.completeSize(loose.path)).toBe(100);
});

test('what is gone from the disk already is forgotten all the same', () => {
  fs.rmSync(store.file(loose.path));
  fs.rmSync(derived);
  forgetDamage(store, [damagedObject, damagedFile()]);
  expect(store.ledger.completeSize(loose.path)).toBeUndefined();
});

test('only a host can mend objects and entries', () => {
  expect([entryFrom(0, 1), damagedObject, damagedFile()].map(needsFetch)).toEqual([true, true, false]);
});

test.each(['ledger.db', 'names/listfile.json', '../beside'])(
  'a row that names %s goes, and no file is moved or removed for it',
  (path) => {
    const file = `${store.layout.root}/${path}`;
    fs.mkdirSync(dirname(file), { recursive: true });
    if (!fs.existsSync(file)) fs.writeFileSync(file, 'something else');
    store.ledger.addSpans(path, [{ start: 0, end: 10 }]);
    forgetDamage(store, [
      { kind: 'row', path },
      { kind: 'row', path: 'ledger.db' },
    ]);
    expect(fs.existsSync(file)).toBe(true);
    expect([...store.ledger.objects()].map((row) => row.path)).not.toContain(path);
  },
);
