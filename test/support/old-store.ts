import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { Sqlite } from '../../src/store/ledger/sqlite.ts';

/*
 * A store as pakrat 0.1.0 left it: the ledger of schema 1, archives in the layout of the CDN whether whole or not and never called whole,
 * loose objects that are not whole in `tmp/<hash>.partial`. It is made out of a store of today.
 */

/** The tables of 0.1.0, as it made them. */
const schema = `
CREATE TABLE answers (
  product TEXT NOT NULL, endpoint TEXT NOT NULL, seqn INTEGER, service TEXT NOT NULL,
  first_time INTEGER NOT NULL, last_time INTEGER NOT NULL, body BLOB NOT NULL,
  UNIQUE (product, endpoint, body)
);
CREATE TABLE builds (
  id INTEGER PRIMARY KEY, product TEXT NOT NULL, name TEXT NOT NULL, build_id TEXT,
  build_config TEXT NOT NULL, cdn_config TEXT NOT NULL, product_config TEXT, key_ring TEXT,
  region TEXT NOT NULL, cdn_path TEXT NOT NULL, config_path TEXT NOT NULL, hosts TEXT NOT NULL,
  selection TEXT, wanted_entries INTEGER NOT NULL DEFAULT 0, wanted_bytes INTEGER NOT NULL DEFAULT 0,
  held_entries INTEGER NOT NULL DEFAULT 0, held_bytes INTEGER NOT NULL DEFAULT 0, time INTEGER NOT NULL,
  UNIQUE (product, build_config)
);
CREATE TABLE objects (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER, complete INTEGER NOT NULL DEFAULT 0, time INTEGER NOT NULL
);
CREATE TABLE spans (
  object INTEGER NOT NULL REFERENCES objects(id) ON DELETE CASCADE, start INTEGER NOT NULL, end INTEGER NOT NULL,
  PRIMARY KEY (object, start)
) WITHOUT ROWID;
CREATE TABLE keys (name TEXT PRIMARY KEY, key TEXT NOT NULL, extra TEXT NOT NULL DEFAULT '', source TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 1;
`;
/** What every table of 0.1.0 has in common with today's; a column that came later is left behind. */
const tables = ['answers', 'builds', 'objects', 'spans', 'keys', 'settings'];

/** The schema that 0.1.0 knows; a ledger with a higher one it refuses with E_STORE_SCHEMA. */
export const oldSchema = 1;

/** The schema of a store's ledger. */
export function schemaOf(store: string): number | undefined {
  const db = new Sqlite(join(store, 'ledger.db'), { readonly: true });
  try {
    return db.get<{ user_version: number }>('PRAGMA user_version')?.user_version;
  } finally {
    db.close();
  }
}

/** Makes a store one of 0.1.0. No process may use it. @param cutLoose a number of loose objects of which only the first half is held */
export function makeOldStore(store: string, { cutLoose }: { cutLoose: number }): void {
  const [today, old] = [join(store, 'ledger.db'), join(store, 'old.db')];
  const db = new Sqlite(old);
  db.exec(schema);
  db.exec(`ATTACH '${today}' AS today`);
  for (const table of tables) {
    const columns = db.all<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`).map(({ name }) => name);
    db.exec(`INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM today.${table}`);
  }
  db.exec("DELETE FROM main.settings WHERE name = 'oldLayout'; DETACH today");
  const rows = db.all<{ id: number; path: string; size: number; complete: number }>('SELECT * FROM objects');
  const paths = new Set(rows.map(({ path }) => path));
  let cut = 0;
  for (const { id, path, size, complete } of rows) {
    const [inPlace, apart] = [join(store, path), join(store, 'partial', path)];
    const isArchive = paths.has(`${path}.index`);
    const isLoose = !isArchive && /^tpr\/wow\/data\/..\/..\/[0-9a-f]{32}$/.test(path);
    if (isArchive && complete === 1) {
      db.run('UPDATE objects SET complete = 0, size = NULL WHERE id = ?', id);
      db.run('INSERT INTO spans VALUES (?, 0, ?)', id, size);
    } else if (isArchive && fs.existsSync(apart)) {
      fs.mkdirSync(dirname(inPlace), { recursive: true });
      fs.renameSync(apart, inPlace);
    } else if (isLoose && complete === 1 && cut < cutLoose) {
      cut += 1;
      const half = size >> 1;
      db.run('UPDATE objects SET complete = 0, size = NULL WHERE id = ?', id);
      db.run('INSERT INTO spans VALUES (?, 0, ?)', id, half);
      fs.renameSync(inPlace, join(store, 'tmp', `${path.slice(-32)}.partial`));
      fs.truncateSync(join(store, 'tmp', `${path.slice(-32)}.partial`), half);
    }
  }
  if (cut < cutLoose) throw new Error(`only ${cut} loose objects`);
  db.close();
  for (const name of fs.readdirSync(store)) if (/^(ledger|claims)\.db/.test(name)) fs.rmSync(join(store, name));
  fs.rmSync(join(store, 'partial'), { recursive: true, force: true });
  fs.renameSync(old, today);
}
