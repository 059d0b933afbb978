/*
 * What becomes a line of history.jsonl is noted by triggers, in the transaction that changes it: nothing is forgotten, whoever writes, and whenever
 * the process is killed. `outbox` has the lines that are not in the file yet.
 *
 *   answer     a body that a version service gave for the first time; `before`: when the newest until then was last given
 *   again      an older body is the newest again
 *   build      the identity of a build, as it was first seen or has changed
 *   selection  what was wanted of a build, where that is not what was wanted last
 *   pin, unpin, forget
 */

/** The lines about rows of tables: of all rows (`FROM`), or of the one that a trigger is for. */
const lines = {
  answer: (row: string, before = 'NULL'): string =>
    `history_line('answer', 'product', ${row}product, 'endpoint', ${row}endpoint, 'seqn', ${row}seqn, 'service', ${row}service,
      'time', ${row}first_time, 'last', ${row}last_time, 'before', ${before}, 'body', ${row}body)`,
  build: (row: string): string =>
    `history_line('build', 'product', ${row}product, 'name', ${row}name, 'buildId', ${row}build_id, 'buildConfig', ${row}build_config,
      'cdnConfig', ${row}cdn_config, 'productConfig', ${row}product_config, 'keyRing', ${row}key_ring, 'region', ${row}region,
      'cdnPath', ${row}cdn_path, 'configPath', ${row}config_path, 'hosts', ${row}hosts, 'time', ${row}time)`,
  selection: (row: string, selection: string): string =>
    `history_line('selection', 'product', ${row}product, 'buildConfig', ${row}build_config, 'selection', ${selection},
      'wantedEntries', ${row}wanted_entries, 'wantedBytes', ${row}wanted_bytes, 'time', ${row}time)`,
  pin: (type: 'pin' | 'unpin', row: string): string =>
    `history_line('${type}', 'product', ${row}product, 'buildConfig', ${row}build_config, 'time', ${row}time)`,
  forget: (row: string): string =>
    `history_line('forget', 'product', ${row}product, 'name', ${row}name, 'buildConfig', ${row}build_config, 'cdnConfig', ${row}cdn_config,
      'cdnPath', ${row}cdn_path, 'configPath', ${row}config_path, 'time', ${row}time)`,
};

/** Queries of all lines that say how a ledger is now, in an order in which they can be taken back. */
export const historyQueries = [
  `SELECT ${lines.answer('')} AS line FROM answers ORDER BY first_time, rowid`,
  `SELECT ${lines.forget('')} AS line FROM forgotten ORDER BY id`,
  `SELECT ${lines.build('')} AS line FROM builds ORDER BY id`,
  `SELECT ${lines.selection('b.', 's.selection')} AS line FROM selections s JOIN builds b ON b.id = s.build
     ORDER BY s.selection IS b.selection, s.id`,
  `SELECT ${lines.pin('pin', '')} AS line FROM pins ORDER BY id`,
] as const;

const identity = (row: string): string =>
  [
    'product',
    'name',
    'build_id',
    'build_config',
    'cdn_config',
    'product_config',
    'key_ring',
    'region',
    'cdn_path',
    'config_path',
    'hosts',
  ]
    .map((column) => `${row}.${column}`)
    .join(', ');
const others = (row: string): string =>
  `FROM answers WHERE product = ${row}.product AND endpoint = ${row}.endpoint AND rowid <> ${row}.rowid`;
const note = (line: string): string => `BEGIN INSERT INTO outbox (line) VALUES (${line}); END`;

/** The outbox with its triggers, and in it all that a ledger of an earlier schema knows. */
export const historyTables = `
CREATE TABLE outbox (id INTEGER PRIMARY KEY, line TEXT NOT NULL);
CREATE TRIGGER answers_noted AFTER INSERT ON answers ${note(lines.answer('new.', `(SELECT max(last_time) ${others('new')})`))};
CREATE TRIGGER answers_again AFTER UPDATE OF last_time ON answers
  WHEN new.last_time > old.last_time AND EXISTS (SELECT 1 ${others('new')} AND last_time >= old.last_time)
    AND NOT EXISTS (SELECT 1 ${others('new')} AND last_time > new.last_time)
  ${note(`history_line('again', 'product', new.product, 'endpoint', new.endpoint, 'time', new.last_time,
    'before', (SELECT max(last_time) ${others('new')}), 'bodyMd5', body_md5(new.body))`)};
CREATE TRIGGER builds_noted AFTER INSERT ON builds ${note(lines.build('new.'))};
CREATE TRIGGER builds_changed_noted AFTER UPDATE ON builds WHEN (${identity('new')}) IS NOT (${identity('old')}) ${note(lines.build('new.'))};
CREATE TRIGGER builds_wanted_noted AFTER UPDATE OF selection ON builds WHEN new.selection IS NOT old.selection AND new.selection IS NOT NULL
  ${note(lines.selection('new.', 'new.selection'))};
CREATE TRIGGER pins_noted AFTER INSERT ON pins ${note(lines.pin('pin', 'new.'))};
CREATE TRIGGER pins_taken AFTER DELETE ON pins ${note(lines.pin('unpin', 'old.'))};
CREATE TRIGGER forgotten_noted AFTER INSERT ON forgotten ${note(lines.forget('new.'))};
CREATE TRIGGER forgotten_again AFTER UPDATE ON forgotten ${note(lines.forget('new.'))};
${historyQueries.map((query) => `INSERT INTO outbox (line) ${query};`).join('\n')}
`;
