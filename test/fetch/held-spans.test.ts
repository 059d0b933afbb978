import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { EntryPlace } from '../../src/builds/objects.ts';
import { codeOf } from '../../src/core/errors.ts';
import { HeldSpans, isHeld, SpanCommitter } from '../../src/fetch/held-spans.ts';
import { objectPath } from '../../src/store/layout.ts';
import type { Amount } from '../../src/store/ledger/rows.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { scratchFolder } from '../support/scratch.ts';
import { describeTmpfs, withTmpfs } from '../support/tmpfs.ts';

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

describe('SpanCommitter', () => {
  let store: Store;
  let committer: SpanCommitter;
  let number = 0;
  beforeEach(() => {
    number += 1;
    store = openStore(scratch(`store${number}`), { create: true });
    committer = new SpanCommitter(store);
  });
  afterEach(() => store.close());

  test('commits what waits a moment later, or when it is told to', async () => {
    committer.add('a', [{ start: 0, end: 10 }]);
    expect(store.ledger.spans('a')).toEqual([]);
    committer.flush();
    expect(store.ledger.spans('a')).toEqual([{ start: 0, end: 10 }]);
    committer.add('a', [{ start: 10, end: 20 }]);
    committer.add('b', [{ start: 5, end: 6 }]);
    await sleep(500);
    expect([store.ledger.spans('a'), store.ledger.spans('b')]).toEqual([
      [{ start: 0, end: 20 }],
      [{ start: 5, end: 6 }],
    ]);
  });

  test('commits spans together with what hangs on them, or none of both', () => {
    const seen: number[] = [];
    const onHeld = ({ bytes }: Amount): void => {
      seen.push(bytes);
      store.ledger.setSetting('bytes', String(bytes));
      if (seen.length === 1) throw new Error('no');
    };
    committer.add('a', [{ start: 0, end: 10 }], onHeld);
    committer.add('b', [{ start: 0, end: 7 }], onHeld);
    expect(() => committer.flush()).toThrow('no');
    expect([store.ledger.spans('a'), store.ledger.setting('bytes')]).toEqual([[], undefined]);
    // What could not be committed still waits.
    committer.flush();
    expect(seen).toEqual([17, 17]);
    expect([store.ledger.spans('a'), store.ledger.setting('bytes')]).toEqual([[{ start: 0, end: 10 }], '17']);
    committer.flush();
    expect(seen).toHaveLength(2);
  });

  test('each piece of work hears of its own bytes alone', () => {
    const told: string[] = [];
    committer.add('a', [{ start: 0, end: 10 }], ({ bytes }) => told.push(`first ${bytes}`));
    committer.add('b', [{ start: 0, end: 7 }], ({ bytes }) => told.push(`second ${bytes}`));
    committer.add('c', [{ start: 0, end: 3 }]);
    committer.flush();
    expect(told).toEqual(['first 10', 'second 7']);
  });

  test('an entry counts with its spans, a loose one once it has its name', () => {
    const amounts: Amount[] = [];
    const onHeld = (more: Amount): void => void amounts.push({ ...more });
    const loose = objectPath({ ...object, hash: '2'.repeat(32) });
    committer.add(path, [{ start: 0, end: 10 }], onHeld);
    committer.addEntry({ path, size: 10, loose: false }, onHeld);
    committer.add(loose, [{ start: 0, end: 7 }], onHeld);
    committer.addEntry({ path: loose, size: 7, loose: true }, onHeld);
    // Nobody has written its file.
    expect(() => committer.flush()).toThrow('is not whole');
    expect(amounts).toEqual([{ entries: 1, bytes: 17 }]);
    const { file } = store.files.partial(loose);
    fs.mkdirSync(dirname(file), { recursive: true });
    fs.writeFileSync(file, '1234567');
    committer.addEntry({ path: loose, size: 7, loose: true }, onHeld);
    committer.flush();
    expect(amounts.slice(1)).toEqual([{ entries: 1, bytes: 0 }]);
    expect(store.ledger.completeSize(loose)).toBe(7);
  });

  test('a commit that fails behind the scenes is told by the next one that is asked for', async () => {
    let failing = true;
    const onHeld = (): void => {
      if (failing) throw Object.assign(new Error('full'), { code: 'E_STORE_FULL' });
    };
    committer.add('a', [{ start: 0, end: 10 }], onHeld);
    // An exception of a timer would end the process.
    await sleep(500);
    expect(() => committer.flush()).toThrow('full');
    failing = false;
    committer.flush();
    expect(store.ledger.spans('a')).toEqual([{ start: 0, end: 10 }]);
  });
});

describeTmpfs('SpanCommitter on a full disk', () => {
  test('says E_STORE_FULL and keeps what waits', async () => {
    await withTmpfs('400k', async (folder, resize) => {
      const store = openStore(`${folder}/store`, { create: true });
      const committer = new SpanCommitter(store);
      try {
        try {
          for (let i = 0; i < 500; i++) fs.appendFileSync(`${folder}/ballast`, Buffer.alloc(1024));
        } catch (error) {
          expect(codeOf(error)).toBe('ENOSPC');
        }
        for (let i = 0; i < 2000; i++) committer.add(`object ${i}`, [{ start: 0, end: 10 }]);
        expect(() => committer.flush()).toThrow(expect.objectContaining({ code: 'E_STORE_FULL' }));
        resize('16m');
        committer.flush();
        expect(store.ledger.spans('object 1999')).toEqual([{ start: 0, end: 10 }]);
      } finally {
        store.close();
      }
    });
  });
});
