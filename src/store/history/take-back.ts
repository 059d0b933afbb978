import { isKeyHex } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import { isSafeCdnPath } from '../layout.ts';
import type { Sqlite } from '../ledger/sqlite.ts';
import { addBuildSql, addForgottenSql, addPinSql } from '../ledger/statements.ts';
import { bytesOf, type HistoryLine } from './lines.ts';

/** Does again in a ledger what a line of the history says. @throws E_FORMAT for a line that says nothing a ledger could hold */
type TakeBack = (db: Sqlite, line: HistoryLine) => void;

/** A new ledger follows the lines one by one; one that lacks single rows has them added, and nothing else of it changes. */
const followed: Readonly<Record<string, TakeBack>> = {
  answer(db, line) {
    renewNewest(db, line);
    addAnswer(db, line);
  },
  again(db, line) {
    renewNewest(db, line);
    const { product, endpoint, time } = { ...named(line, 'product', 'endpoint'), time: timeOf(line) };
    const sql =
      'UPDATE answers SET last_time = max(last_time, ?) WHERE product = ? AND endpoint = ? AND body_md5(body) = ?';
    db.run(sql, time, product, endpoint, line.bodyMd5);
  },
  build: addBuild,
  selection(db, line) {
    const { product, buildConfig, selection } = named(line, 'product', 'buildConfig', 'selection');
    const wanted = [line.wantedEntries, line.wantedBytes].map((count) => (typeof count === 'number' ? count : 0));
    db.run(
      `UPDATE builds SET selection = ?, wanted_entries = ?, wanted_bytes = ?, time = ? WHERE product = ? AND build_config = ?`,
      selection,
      ...wanted,
      timeOf(line),
      product,
      buildConfig,
    );
  },
  pin: addPin,
  unpin(db, line) {
    const { product, buildConfig } = named(line, 'product', 'buildConfig');
    db.run('DELETE FROM pins WHERE product = ? AND build_config = ?', product, buildConfig);
  },
  forget(db, line) {
    addForgotten(db, line);
    const { product, buildConfig } = named(line, 'product', 'buildConfig');
    db.run('DELETE FROM builds WHERE product = ? AND build_config = ?', product, buildConfig);
  },
};

const added: Readonly<Record<string, TakeBack>> = {
  answer: addAnswer,
  build: addBuild,
  selection(db, line) {
    const { product, buildConfig, selection } = named(line, 'product', 'buildConfig', 'selection');
    db.run(
      `INSERT INTO selections (build, selection, time) SELECT id, ?, ? FROM builds WHERE product = ? AND build_config = ?
       ON CONFLICT DO NOTHING`,
      selection,
      timeOf(line),
      product,
      buildConfig,
    );
  },
  pin: addPin,
  forget: addForgotten,
};

/** Follows a line in a ledger that was new before the first. One of a later pakrat's is passed over. @throws E_FORMAT */
export function followLine(db: Sqlite, line: HistoryLine): void {
  followed[line.type]?.(db, line);
}

/** Adds to a ledger a row that it lacks. @throws E_FORMAT */
export function addLine(db: Sqlite, line: HistoryLine): void {
  added[line.type]?.(db, line);
}

function addAnswer(db: Sqlite, line: HistoryLine): void {
  const { product, endpoint, service } = named(line, 'product', 'endpoint', 'service');
  const seqn = typeof line.seqn === 'number' ? line.seqn : null;
  const first = timeOf(line);
  const last = typeof line.last === 'number' ? Math.max(first, line.last) : first;
  const sql = 'INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
  db.run(sql, product, endpoint, seqn, service, first, last, bytesOf(line, 'body'));
}

/** The answer that was the newest until then was given up to the time that a line has. */
function renewNewest(db: Sqlite, line: HistoryLine): void {
  if (typeof line.before !== 'number') return;
  const { product, endpoint } = named(line, 'product', 'endpoint');
  const newest =
    'SELECT rowid FROM answers WHERE product = ? AND endpoint = ? ORDER BY last_time DESC, rowid DESC LIMIT 1';
  db.run(`UPDATE answers SET last_time = max(last_time, ?) WHERE rowid = (${newest})`, line.before, product, endpoint);
}

function addBuild(db: Sqlite, line: HistoryLine): void {
  const texts = named(line, 'product', 'name', 'buildConfig', 'cdnConfig', 'region', 'cdnPath', 'configPath', 'hosts');
  const { buildConfig, cdnConfig, cdnPath, configPath } = texts;
  const isRight = isKeyHex(buildConfig) && isKeyHex(cdnConfig) && isSafeCdnPath(cdnPath) && isSafeCdnPath(configPath);
  if (!isRight) throw formatError('E_FORMAT', 'history.jsonl', 'a build with keys or paths that are none');
  const [buildId, productConfig, keyRing] = [line.buildId, line.productConfig, line.keyRing].map((value) =>
    typeof value === 'string' ? value : null,
  );
  db.run(addBuildSql, { ...texts, buildId, productConfig, keyRing, time: timeOf(line) });
}

function addPin(db: Sqlite, line: HistoryLine): void {
  const { product, buildConfig } = named(line, 'product', 'buildConfig');
  db.run(addPinSql, product, buildConfig, timeOf(line));
}

function addForgotten(db: Sqlite, line: HistoryLine): void {
  const texts = named(line, 'product', 'name', 'buildConfig', 'cdnConfig', 'cdnPath', 'configPath');
  db.run(addForgottenSql, { ...texts, time: timeOf(line) });
}

/** Fields of a line that are texts. */
function named<Name extends string>(line: HistoryLine, ...names: readonly Name[]): Record<Name, string> {
  const fields = names.map((name) => {
    const value = line[name];
    if (typeof value === 'string') return [name, value] as const;
    throw formatError('E_FORMAT', 'history.jsonl', `a line of type ${line.type} without ${name}`);
  });
  return Object.fromEntries(fields) as Record<Name, string>;
}

function timeOf({ type, time }: HistoryLine): number {
  if (typeof time === 'number' && Number.isSafeInteger(time)) return time;
  throw formatError('E_FORMAT', 'history.jsonl', `a line of type ${type} without its time`);
}
