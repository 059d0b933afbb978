import type { DamagedRow } from './rows.ts';
import type { Sqlite } from './sqlite.ts';

/*
 * Checksums of the rows that nothing on disk proves: builds and what is to be kept of them, answers, keys and settings. Triggers keep them beside
 * the rows, by table and key, so that a row that is gone is noticed as well. Rows of objects and spans need none: they are proven by hashing what
 * they claim.
 */

/** Tables with checksums, their keys, and the columns that count. */
const tables = {
  builds: {
    key: 'id',
    columns: `product, name, build_id, build_config, cdn_config, product_config, key_ring, region, cdn_path, config_path, hosts,
      selection, wanted_entries, wanted_bytes, held_entries, held_bytes, time`,
  },
  answers: { key: 'rowid', columns: 'product, endpoint, seqn, service, first_time, last_time, body' },
  keys: { key: 'name', columns: 'name, key, extra, source' },
  settings: { key: 'name', columns: 'name, value' },
  selections: { key: 'id', columns: 'build, selection, time' },
  pins: { key: 'id', columns: 'product, build_config, time' },
  forgotten: { key: 'id', columns: 'product, name, build_config, cdn_config, cdn_path, config_path, time' },
  arrivals: { key: 'build', columns: 'time' },
} as const;
/** Tables of schema 3, and those that came with schema 4. */
const firstTables = ['builds', 'answers', 'keys', 'settings'] as const;
const keptTables = ['selections', 'pins', 'forgotten', 'arrivals'] as const;

const columnsOf = (columns: string, prefix: string): string =>
  columns
    .split(',')
    .map((column) => `${prefix}${column.trim()}`)
    .join(', ');

/** Sums, with triggers that keep them, for the rows that there are. */
export const rowSums = `
CREATE TABLE sums (tbl TEXT NOT NULL, key NOT NULL, sum TEXT NOT NULL, PRIMARY KEY (tbl, key)) WITHOUT ROWID;
${firstTables.map(scriptFor).join('\n')}
`;
/** Sums of rows that say what is to be kept. */
export const keptRowSums = keptTables.map(scriptFor).join('\n');

function scriptFor(table: keyof typeof tables): string {
  const { key, columns } = tables[table];
  const put = `INSERT OR REPLACE INTO sums VALUES ('${table}', new.${key}, row_sum(${columnsOf(columns, 'new.')}))`;
  const drop = `DELETE FROM sums WHERE tbl = '${table}' AND key = old.${key}`;
  // A row that was damaged before stays so, whatever else is written to it.
  const wasRight = `(SELECT sum FROM sums WHERE tbl = '${table}' AND key = old.${key}) IS row_sum(${columnsOf(columns, 'old.')})`;
  return `
INSERT INTO sums SELECT '${table}', ${key}, row_sum(${columns}) FROM ${table};
CREATE TRIGGER ${table}_added AFTER INSERT ON ${table} BEGIN ${put}; END;
CREATE TRIGGER ${table}_changed AFTER UPDATE ON ${table} WHEN ${wasRight} BEGIN ${drop}; ${put}; END;
CREATE TRIGGER ${table}_removed AFTER DELETE ON ${table} BEGIN ${drop}; END;`;
}

/** The rows that are not as they were written. */
export function damagedRows(db: Sqlite): DamagedRow[] {
  // An older ledger that may not be written lacks some, or has no sums at all.
  const there = new Set(db.all<{ name: string }>('SELECT name FROM sqlite_master').map(({ name }) => name));
  if (!there.has('sums')) return [];
  return Object.entries(tables).flatMap(([table, { key, columns }]) => {
    if (!there.has(table)) return [];
    return db.all<DamagedRow>(
      `SELECT '${table}' AS "table", t.${key} AS key FROM ${table} t LEFT JOIN sums s ON s.tbl = '${table}' AND s.key = t.${key}
         WHERE s.sum IS NOT row_sum(${columnsOf(columns, 't.')})
       UNION ALL SELECT '${table}', s.key FROM sums s WHERE s.tbl = '${table}' AND s.key NOT IN (SELECT ${key} FROM ${table})`,
    );
  });
}

/** True while a damaged row is there. */
export function hasRow(db: Sqlite, { table, key }: DamagedRow): boolean {
  return db.get(`SELECT 1 FROM ${table} WHERE ${tables[table].key} = ?`, key) !== undefined;
}

/** Forgets a damaged row, and its sum where the row is gone. */
export function removeRow(db: Sqlite, { table, key }: DamagedRow): void {
  db.run(`DELETE FROM ${table} WHERE ${tables[table].key} = ?`, key);
  db.run('DELETE FROM sums WHERE tbl = ? AND key = ?', table, key);
}

/** Takes a row as it is now for right. */
export function sealRow(db: Sqlite, { table, key }: DamagedRow): void {
  const { key: keyColumn, columns } = tables[table];
  db.run(
    `INSERT OR REPLACE INTO sums SELECT '${table}', ${keyColumn}, row_sum(${columns}) FROM ${table} WHERE ${keyColumn} = ?`,
    key,
  );
}
