import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { Ledger } from '../../../src/store/ledger/ledger.ts';
import type { BuildIdentity } from '../../../src/store/ledger/rows.ts';
import { Sqlite } from '../../../src/store/ledger/sqlite.ts';
import { mergeSpans, type Span } from '../../../src/store/spans.ts';
import { runInChild } from '../../support/child.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
let number = 0;
let path: string;
let ledger: Ledger;

beforeEach(() => {
  number += 1;
  path = scratch(`${number}.db`);
  ledger = new Ledger(path);
});
afterEach(() => ledger.close());

/** What another process would see. */
function reopened<Result>(body: (other: Ledger) => Result): Result {
  const other = new Ledger(path);
  try {
    return body(other);
  } finally {
    other.close();
  }
}

describe('spans', () => {
  const spans = fc.array(
    fc.tuple(fc.nat(100), fc.integer({ min: 1, max: 30 })).map(([start, size]) => ({ start, end: start + size })),
    { maxLength: 6, size: 'max' },
  );

  test('are merged over all the times that they are added', () => {
    let object = 0;
    fc.assert(
      fc.property(fc.array(spans, { maxLength: 6 }), (batches) => {
        object += 1;
        const name = `o${object}`;
        for (const batch of batches) ledger.transaction(() => ledger.addSpans(name, batch));
        expect(ledger.spans(name)).toEqual(mergeSpans(batches.flat()));
      }),
      { numRuns: 60 },
    );
  });

  test('a part that turned out wrong is cut out, and nothing else', () => {
    let object = 0;
    fc.assert(
      fc.property(spans, spans, fc.boolean(), (held, wrong, complete) => {
        object += 1;
        const name = `r${object}`;
        ledger.addSpans(name, held);
        if (complete) ledger.addComplete(name, 130);
        const before: Span[] = complete ? [{ start: 0, end: 130 }] : mergeSpans(held);
        ledger.removeSpans(name, wrong);
        const bytes = (list: readonly Span[]): Set<number> =>
          new Set(list.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i)));
        const expected = bytes(before);
        for (const byte of bytes(wrong)) expected.delete(byte);
        expect(bytes(ledger.spans(name))).toEqual(expected);
        expect(ledger.completeSize(name)).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  test('an object that is held whole has one span, and late ones do not change it', () => {
    ledger.addSpans('a', [{ start: 0, end: 10 }]);
    ledger.addComplete('a', 100);
    ledger.addSpans('a', [{ start: 5, end: 2000 }]);
    expect(ledger.spans('a')).toEqual([{ start: 0, end: 100 }]);
    expect(ledger.completeSize('a')).toBe(100);
    expect(ledger.heldBytes()).toBe(100);
    ledger.addComplete('empty', 0);
    expect(ledger.spans('empty')).toEqual([]);
    expect(ledger.completeSize('empty')).toBe(0);
  });

  test.each(['all', 'within'])('are never gone while another process calls the object whole (%s)', (which) => {
    ledger.addSpans('a', [{ start: 0, end: 100 }]);
    const other = new Sqlite(path);
    const whole = jest.fn(() => {
      other.exec('UPDATE objects SET complete = 1, size = 100; DELETE FROM spans');
    });
    // Behind the first question, as early as another process can.
    const { get, all } = Sqlite.prototype;
    const asks = [
      jest.spyOn(Sqlite.prototype, 'get').mockImplementation(function (this: Sqlite, ...question) {
        const answer = get.apply(this, question);
        if (whole.mock.calls.length === 0) whole();
        return answer as never;
      }),
      jest.spyOn(Sqlite.prototype, 'all').mockImplementation(function (this: Sqlite, ...question) {
        const answer = all.apply(this, question);
        if (whole.mock.calls.length === 0) whole();
        return answer as never;
      }),
    ];
    try {
      expect(which === 'all' ? ledger.spans('a') : ledger.spansWithin('a', 10, 20)).toEqual([{ start: 0, end: 100 }]);
      expect(whole).toHaveBeenCalledTimes(1);
    } finally {
      for (const ask of asks) ask.mockRestore();
      other.close();
    }
  });

  test('one object is not another, and a forgotten one has none', () => {
    ledger.addSpans('a', [{ start: 0, end: 10 }]);
    ledger.addSpans('ab', [{ start: 20, end: 2 ** 41 }]);
    ledger.removeObject('a');
    expect([ledger.spans('a'), ledger.spans('ab'), ledger.spans('b')]).toEqual([[], [{ start: 20, end: 2 ** 41 }], []]);
    ledger.addSpans('a', [{ start: 1, end: 2 }]);
    expect(ledger.spans('a')).toEqual([{ start: 1, end: 2 }]);
  });

  test('objects are listed with the bytes that are held of them', () => {
    ledger.addComplete('b/whole', 500);
    ledger.addSpans('a/part', [
      { start: 0, end: 10 },
      { start: 90, end: 100 },
    ]);
    expect([...ledger.objects()]).toEqual([
      { path: 'a/part', complete: false, bytes: 20 },
      { path: 'b/whole', complete: true, bytes: 500 },
    ]);
    expect(ledger.heldBytes()).toBe(520);
  });
});

describe('transactions', () => {
  test('all of one is kept, or nothing', () => {
    ledger.addSpans('a', [{ start: 0, end: 10 }]);
    const boom = new Error('boom');
    expect(() =>
      ledger.transaction(() => {
        ledger.addSpans('a', [{ start: 10, end: 20 }]);
        ledger.addComplete('b', 5);
        throw boom;
      }),
    ).toThrow(boom);
    expect(ledger.spans('a')).toEqual([{ start: 0, end: 10 }]);
    expect(ledger.completeSize('b')).toBeUndefined();
  });

  test('a commit survives kill -9, what was not committed does not', async () => {
    const child = runInChild(`
      import Database from 'better-sqlite3';
      const db = new Database(${JSON.stringify(path)});
      db.exec('PRAGMA synchronous = FULL');
      db.exec("INSERT INTO objects (path, time) VALUES ('kept', 0); INSERT INTO spans VALUES (1, 0, 10)");
      db.exec("BEGIN IMMEDIATE; INSERT INTO spans VALUES (1, 10, 20); INSERT INTO objects (path, time) VALUES ('lost', 0)");
      console.log('half-way');
      setInterval(() => {}, 1000);
    `);
    await child.says('half-way');
    await child.kill();
    reopened((other) => {
      expect(other.spans('kept')).toEqual([{ start: 0, end: 10 }]);
      expect([...other.objects()].map((object) => object.path)).toEqual(['kept']);
    });
    ledger.addSpans('kept', [{ start: 10, end: 30 }]);
    expect(ledger.spans('kept')).toEqual([{ start: 0, end: 30 }]);
  });

  test('while another process writes, ours waits for its turn, and reading goes on', async () => {
    ledger.addSpans('a', [{ start: 0, end: 10 }]);
    const child = runInChild(`
      import Database from 'better-sqlite3';
      const db = new Database(${JSON.stringify(path)});
      db.function('row_sum', { varargs: true }, () => 'sum');
      db.exec("BEGIN IMMEDIATE; INSERT INTO settings VALUES ('other', 'was here')");
      console.log('writing');
      setTimeout(() => { db.exec('COMMIT'); db.close(); }, 600);
    `);
    await child.says('writing');
    expect(ledger.spans('a')).toEqual([{ start: 0, end: 10 }]);
    expect(ledger.setting('other')).toBeUndefined();
    ledger.transaction(() => ledger.addSpans('a', [{ start: 10, end: 20 }]));
    expect(ledger.spans('a')).toEqual([{ start: 0, end: 20 }]);
    expect(ledger.setting('other')).toBe('was here');
    await child.kill();
  });

  test('two processes that add to one object at once lose nothing', async () => {
    const child = runInChild(`
      import Database from 'better-sqlite3';
      const db = new Database(${JSON.stringify(path)}, { timeout: 10000 });
      console.log('ready');
      db.function('row_sum', { varargs: true }, () => 'sum');
      const insert = db.prepare('INSERT OR IGNORE INTO settings VALUES (?, ?)');
      for (let i = 0; i < 200; i++) insert.run('n' + i, 'x');
      console.log('done');
      setInterval(() => {}, 1000);
    `);
    await child.says('ready');
    for (let i = 0; i < 200; i++) ledger.transaction(() => ledger.addSpans('a', [{ start: i * 10, end: i * 10 + 5 }]));
    await child.says('done');
    await child.kill();
    expect(ledger.spans('a')).toHaveLength(200);
    expect(ledger.setting('n199')).toBe('x');
  });
});

describe('the file', () => {
  test('a commit is on disk when it returns, whatever happens to the power', () => {
    const raw = new Sqlite(path, { readonly: true });
    expect(raw.get('PRAGMA journal_mode')).toEqual({ journal_mode: 'wal' });
    raw.close();
    // FULL is 2. It belongs to a connection, so it is looked at where it is set.
    const executed: string[] = [];
    const exec = Database.prototype.exec;
    Database.prototype.exec = function (this: Database.Database, source: string) {
      executed.push(source);
      return exec.call(this, source);
    };
    try {
      reopened(() => {});
    } finally {
      Database.prototype.exec = exec;
    }
    expect(executed.join(';')).toMatch(/PRAGMA synchronous = FULL\b/);
  });

  test('one that a newer pakrat wrote is refused, and not changed', () => {
    const raw = new Sqlite(path);
    raw.exec('PRAGMA user_version = 999');
    raw.close();
    for (const readOnly of [false, true]) {
      expect(() => new Ledger(path, { readOnly })).toThrow(
        expect.objectContaining({ code: 'E_STORE_SCHEMA', hint: expect.any(String) }),
      );
    }
    const after = new Sqlite(path, { readonly: true });
    expect(after.get('PRAGMA user_version')).toEqual({ user_version: 999 });
    after.close();
  });

  test.each([
    ['text', Buffer.from('this is not a database, it is a letter to a friend\n'.repeat(40))],
    ['a header and noise', Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(5000, 0xa5)])],
  ])('%s is damage, and is left as it is', (_, bytes) => {
    const other = scratch(`bad-${number}.db`);
    for (const readOnly of [false, true]) {
      fs.writeFileSync(other, bytes);
      expect(() => new Ledger(other, { readOnly })).toThrow(expect.objectContaining({ code: 'E_STORE_DAMAGED' }));
      expect(fs.readFileSync(other)).toEqual(bytes);
    }
  });

  test('damage that only shows later is told as such', () => {
    const keys = Array.from({ length: 3000 }, (_, i) => ({
      name: `key${i}`,
      key: 'k'.repeat(64),
      extra: '',
      source: 'test',
    }));
    ledger.addKeys(keys);
    ledger.close();
    const bytes = fs.readFileSync(path);
    bytes.fill(0xa5, 4096 * 40);
    fs.writeFileSync(path, bytes);
    ledger = new Ledger(path);
    expect(() => ledger.keys()).toThrow(expect.objectContaining({ code: 'E_STORE_DAMAGED' }));
  });

  test('an empty file is a new ledger', () => {
    const empty = scratch(`empty-${number}.db`);
    fs.writeFileSync(empty, '');
    const opened = new Ledger(empty);
    opened.setSetting('a', 'b');
    expect(opened.setting('a')).toBe('b');
    opened.close();
    fs.truncateSync(empty, 0);
    expect(() => new Ledger(empty, { readOnly: true })).toThrow(expect.objectContaining({ code: 'E_STORE_SCHEMA' }));
  });
});

describe('reading only', () => {
  test('sees what was committed, makes nothing beside it, and cannot write', () => {
    ledger.addSpans('a', [{ start: 0, end: 10 }]);
    ledger.close();
    const before = fs.readdirSync(scratch()).filter((name) => name.startsWith(`${number}.db`));
    expect(before).toEqual([`${number}.db`]);
    const reader = new Ledger(path, { readOnly: true });
    expect(reader.spans('a')).toEqual([{ start: 0, end: 10 }]);
    expect(() => reader.addSpans('a', [{ start: 10, end: 20 }])).toThrow(expect.objectContaining({ code: 'E_STORE' }));
    expect(() => reader.transaction(() => reader.setSetting('a', 'b'))).toThrow(
      expect.objectContaining({ code: 'E_STORE' }),
    );
    expect(fs.readdirSync(scratch()).filter((name) => name.startsWith(`${number}.db`))).toEqual(before);
    reader.close();
    ledger = new Ledger(path);
    expect(ledger.spans('a')).toEqual([{ start: 0, end: 10 }]);
  });

  test('sees what a writer that is still there has committed', () => {
    ledger.addSpans('a', [{ start: 0, end: 10 }]);
    const reader = new Ledger(path, { readOnly: true });
    expect(reader.spans('a')).toEqual([{ start: 0, end: 10 }]);
    reader.close();
  });
});

describe('answers of version services', () => {
  const body = (text: string): Uint8Array => new TextEncoder().encode(text);

  test('the newest comes first, whatever its number', () => {
    ledger.addAnswer('wow', 'versions', { seqn: 5, service: 'http://a', time: 10, body: body('five') });
    ledger.addAnswer('wow', 'versions', { seqn: 9, service: 'http://a', time: 11, body: body('nine') });
    ledger.addAnswer('wow', 'versions', { seqn: 7, service: 'http://a', time: 13, body: body('seven') });
    ledger.addAnswer('wow', 'versions', { seqn: null, service: 'http://a', time: 14, body: body('none') });
    ledger.addAnswer('wow', 'cdns', { seqn: 100, service: 'http://a', time: 10, body: body('cdns') });
    ledger.addAnswer('d3', 'versions', { seqn: 200, service: 'http://a', time: 10, body: body('d3') });
    expect(ledger.answers('wow', 'versions').map(({ seqn }) => seqn)).toEqual([null, 7, 9, 5]);
    expect(new TextDecoder().decode(ledger.answers('wow', 'cdns')[0]!.body)).toBe('cdns');
    expect(ledger.answers('pro', 'versions')).toEqual([]);
  });

  test('the same text again is the same answer, with the newer time and its service', () => {
    const answer = { seqn: 5, service: 'http://a', time: 10, body: body('five') };
    ledger.addAnswer('wow', 'versions', answer);
    ledger.addAnswer('wow', 'versions', { ...answer, time: 12, service: 'http://b' });
    ledger.addAnswer('wow', 'versions', { ...answer, time: 11, service: 'http://b' });
    const after = ledger.answers('wow', 'versions');
    expect(after).toHaveLength(1);
    expect(after[0]).toMatchObject({ seqn: 5, time: 12, service: 'http://b' });
  });
});

describe('builds', () => {
  const build: BuildIdentity = {
    product: 'wow',
    name: '11.2.0.60100',
    buildId: '60100',
    buildConfig: 'a'.repeat(32),
    cdnConfig: 'b'.repeat(32),
    productConfig: null,
    keyRing: null,
    region: 'us',
    cdnPath: 'tpr/wow',
    configPath: 'tpr/configs/data',
    hosts: [
      { base: 'http://a', fallback: false },
      { base: 'http://b', fallback: true },
    ],
  };
  const nothing = { entries: 0, bytes: 0 };

  test('come back as they were added, and by product', () => {
    ledger.addBuild(build);
    ledger.addBuild({ ...build, product: 'd3', buildConfig: 'c'.repeat(32) });
    expect(ledger.builds('wow')).toEqual([{ ...build, selection: null, wanted: nothing, held: nothing }]);
    expect(ledger.builds()).toHaveLength(2);
    expect(ledger.builds('pro')).toEqual([]);
  });

  test('keep their progress when more is known of them', () => {
    ledger.addBuild(build);
    const progress = { selection: '{}', wanted: { entries: 10, bytes: 1000 }, held: { entries: 4, bytes: 300 } };
    ledger.setProgress('wow', build.buildConfig, progress);
    ledger.addHeld('wow', build.buildConfig, { entries: 2, bytes: 2 ** 40 });
    ledger.addBuild({ ...build, name: 'renamed', hosts: [{ base: 'http://c', fallback: false }] });
    expect(ledger.builds('wow')).toEqual([
      {
        ...build,
        name: 'renamed',
        hosts: [{ base: 'http://c', fallback: false }],
        ...progress,
        held: { entries: 6, bytes: 300 + 2 ** 40 },
      },
    ]);
  });

  test('the last added comes first', () => {
    for (const letter of ['a', 'b', 'c']) ledger.addBuild({ ...build, buildConfig: letter.repeat(32) });
    expect(ledger.builds('wow')[0]!.buildConfig).toBe('c'.repeat(32));
  });
});

test('keys are found by name, listed in order, and renewed', () => {
  const row = { name: 'fa505078126acb3e', key: '0'.repeat(32), extra: '', source: 'a.txt' };
  ledger.addKeys([{ ...row, name: 'ff813f7d062ac0bc' }, row]);
  ledger.addKeys([{ ...row, key: '1'.repeat(32), source: 'b.txt' }]);
  expect(ledger.key(row.name)).toBe('1'.repeat(32));
  expect(ledger.key('0000000000000000')).toBeUndefined();
  expect(ledger.keys().map(({ name, source }) => [name, source])).toEqual([
    ['fa505078126acb3e', 'b.txt'],
    ['ff813f7d062ac0bc', 'a.txt'],
  ]);
});

test('settings are kept', () => {
  expect(ledger.setting('service')).toBeUndefined();
  ledger.setSetting('service', 'a');
  ledger.setSetting('service', 'b');
  expect(reopened((other) => other.setting('service'))).toBe('b');
});
