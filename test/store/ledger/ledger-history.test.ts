import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readHistory } from '../../../src/store/history/history-file.ts';
import { type HistoryLine, lastingKey } from '../../../src/store/history/lines.ts';
import { Ledger } from '../../../src/store/ledger/ledger.ts';
import type { BuildIdentity } from '../../../src/store/ledger/rows.ts';
import { Sqlite } from '../../../src/store/ledger/sqlite.ts';
import { scratchFolder } from '../../support/scratch.ts';

const scratch = scratchFolder();
let number = 0;
let folder: string;
let ledger: Ledger;

const history = (): string => `${folder}/history.jsonl`;
const open = (): Ledger => new Ledger(`${folder}/ledger.db`, { history: history() });
const lines = (): HistoryLine[] => [...readHistory(history())].flatMap((found) => ('line' in found ? found.line : []));
const types = (): string[] => lines().map(({ type }) => type);
const state = (of: Ledger): string[] => [...of.history.lines()].map(lastingKey);

/** Takes the ledger away, as a broken disk does, and opens a new one. */
function lose(): void {
  ledger.close();
  for (const end of ['', '-wal', '-shm']) rmSync(`${folder}/ledger.db${end}`, { force: true });
  ledger = open();
}

function build(letter: string, more: Partial<BuildIdentity> = {}): BuildIdentity {
  const [buildConfig, cdnConfig] = [letter.repeat(32), 'f'.repeat(32)];
  const names = {
    product: 'game',
    name: `1.${letter}`,
    buildId: '7',
    productConfig: null,
    keyRing: null,
    region: 'us',
  };
  const hosts = [{ base: 'http://host.test', fallback: false }];
  return { ...names, buildConfig, cdnConfig, cdnPath: 'tpr/game', configPath: 'tpr/configs/data', hosts, ...more };
}

function answer(body: string | Uint8Array, time: number, endpoint = 'versions'): void {
  ledger.addAnswer('game', endpoint, { seqn: time, service: 'test', time, body: Buffer.from(body) });
}

function want(letter: string, selection: string): void {
  const [wanted, held] = [
    { entries: 5, bytes: 50 },
    { entries: 4, bytes: 40 },
  ];
  ledger.setProgress('game', letter.repeat(32), { selection, wanted, held });
}

beforeEach(() => {
  folder = scratch(String(number++));
  mkdirSync(folder);
  ledger = open();
});
afterEach(() => ledger.close());

test('a ledger that is lost has all of it back: answers with their times, builds, what was wanted of them, pins, what was forgotten', () => {
  answer('one', 10);
  answer('one', 20);
  answer(Uint8Array.of(0xff, 0xfe, 0), 30);
  answer('one', 40);
  answer('two', 50, 'cdns');
  for (const letter of ['a', 'b', 'c']) ledger.addBuild(build(letter));
  ledger.addBuild(build('a', { region: 'eu', cdnConfig: 'e'.repeat(32) }));
  for (const selection of ['x', 'y', 'x']) want('a', selection);
  for (const letter of ['a', 'b']) ledger.keeping.pin(build(letter));
  ledger.keeping.unpin(build('b'));
  ledger.keeping.forget(build('c'));
  const before = state(ledger);
  const [answers, builds] = [ledger.answerHistory('game', 'versions'), ledger.builds()];
  lose();
  expect(state(ledger)).toEqual(before);
  expect(ledger.answerHistory('game', 'versions')).toEqual(answers);
  expect(ledger.answers('game', 'versions').map(({ seqn }) => seqn)).toEqual([10, 30]);
  expect(ledger.keeping.selections(build('a')).sort()).toEqual(['x', 'y']);
  // Nothing that a new ledger knows of is held.
  const none = { entries: 0, bytes: 0 };
  expect(ledger.builds().map((row) => ({ ...row }))).toEqual(builds.map((row) => ({ ...row, held: none })));
  expect(ledger.keeping.pins()).toEqual([{ product: 'game', buildConfig: 'a'.repeat(32) }]);
  expect(ledger.keeping.forgotten()).toHaveLength(1);
  expect(ledger.damagedRows()).toEqual([]);
  const size = readFileSync(history()).length;
  lose();
  // To take back what it has adds nothing to it.
  expect(readFileSync(history())).toHaveLength(size);
  expect(state(ledger)).toEqual(before);
});

test('the same again adds no line; what changed does', () => {
  for (let round = 0; round < 3; round++) {
    answer('one', 10 + round);
    ledger.addBuild(build('a'));
    want('a', 'x');
    ledger.keeping.pin(build('a'));
  }
  expect(types()).toEqual(['answer', 'build', 'selection', 'pin']);
  ledger.addBuild(build('a', { name: '1.1' }));
  expect(types()).toHaveLength(5);
});

test('a line that is torn or damaged is passed over, what comes behind it is read, and the end of a torn one is told once alone', () => {
  ledger.addBuild(build('a'));
  ledger.addBuild(build('b'));
  const text = readFileSync(history(), 'utf8');
  writeFileSync(history(), `${text.replace('1.a', '1.x')}{"type":"pin","pro`);
  ledger.addBuild(build('c'));
  const found = [...readHistory(history())];
  expect(found.flatMap((one) => ('line' in one ? one.line.name : []))).toEqual(['1.b', '1.c']);
  expect(found.flatMap((one) => ('md5' in one ? one.number : []))).toEqual([1]);
  lose();
  expect(ledger.builds().map(({ name }) => name)).toEqual(['1.c', '1.b']);
});

test('what the file cannot take waits in the ledger, fails nothing, and goes there later', () => {
  rmSync(history(), { force: true });
  mkdirSync(history());
  ledger.addBuild(build('a'));
  ledger.transaction(() => ledger.keeping.pin(build('a')));
  expect(ledger.history.waiting().map(({ type }) => type)).toEqual(['build', 'pin']);
  ledger.close();
  rmSync(history(), { recursive: true });
  ledger = open();
  expect(types()).toEqual(['build', 'pin']);
  expect(ledger.history.waiting()).toEqual([]);
});

test('what is not committed is not written', () => {
  expect(() =>
    ledger.transaction(() => {
      ledger.addBuild(build('a'));
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(existsSync(history())).toBe(false);
});

test('lines that nobody could hold are passed over: keys and paths that are none, types of later versions', () => {
  ledger.history.note([
    { type: 'build', ...build('a'), hosts: '[]', cdnPath: '../..', time: 1 },
    { type: 'build', product: 'game', time: 1 },
    { type: 'hologram', product: 'game' },
    { type: 'build', ...build('b'), hosts: '[]', time: 1 },
  ]);
  ledger.history.write();
  appendFileSync(history(), '\n\n');
  lose();
  expect(ledger.builds().map(({ name }) => name)).toEqual(['1.b']);
});

test('an older ledger writes down all that it knows when it is first opened', () => {
  answer('one', 10);
  ledger.addBuild(build('a'));
  want('a', 'x');
  ledger.keeping.pin(build('a'));
  const before = state(ledger);
  ledger.close();
  rmSync(history());
  const db = new Sqlite(`${folder}/ledger.db`);
  for (const { name } of db.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'trigger'"))
    if (/_(noted|again|taken)$/.test(name)) db.exec(`DROP TRIGGER ${name}`);
  db.exec('DROP TABLE outbox; DROP TABLE pulled; PRAGMA user_version = 4');
  db.close();
  const reader = new Ledger(`${folder}/ledger.db`, { readOnly: true });
  expect(reader.history.isKept).toBe(false);
  reader.close();
  ledger = open();
  lose();
  expect(state(ledger)).toEqual(before);
});
