import { PakratError } from '../../core/errors.ts';
import { historyTables } from '../history/history-tables.ts';
import { keptRowSums, rowSums } from './row-sums.ts';
import { pulledTable } from './served-bytes.ts';
import type { Sqlite } from './sqlite.ts';

/*
 * The ledger's tables. SQLite keeps what we know; entries of archives are not rows but sorted files beside it.
 *
 *   answers   each different answer of a version service, with its seqn and time: the history of a product
 *   builds    builds that were asked for, what was wanted of them and how much of that is held
 *   objects   every object of the CDN that the store holds whole (complete = 1) or in part
 *   spans     verified byte intervals of objects held in part, merged; none for a complete object
 *   keys      TACT keys that the user imported
 *   settings  what the store remembers about itself (which service answered last; whether files lie as schema 1 had them, or beside their places)
 *   sums      checksums of the rows that nothing on disk proves (row-sums.ts)
 *
 *   selections  everything that was ever wanted of a build, as JSON
 *   arrivals    when a build was first asked for
 *   pins        builds that are kept, whatever the rules say
 *   forgotten   builds that are not kept any more
 *   outbox      lines that history.jsonl does not have yet (history/history-tables.ts)
 *   leaving     bytes that left the ledger and may still be on the disk
 *   pulled      bytes that came because a client of the server asked for them, and when one did last (served-bytes.ts)
 */
const versionOne = `
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
`;

/** The setting that is there while files may lie as they did in schema 1. */
export const oldLayout = 'oldLayout';

/** The setting that is there while whole objects lie in `partial/`, because a broken disk lets nothing take their names. */
export const displaced = 'displaced';

/**
 * Objects held in part lie in `partial/`. The tables are the same; files move one by one afterwards, under the lock of the store, and the setting
 * goes when all have. A store that cannot be written is read as it is.
 */
const versionTwo = `
INSERT INTO settings SELECT '${oldLayout}', '1' WHERE EXISTS (SELECT 1 FROM objects WHERE complete = 0);
`;

/** What is to be kept, and for how long. */
const versionFour = `
CREATE TABLE selections (
  id INTEGER PRIMARY KEY, build INTEGER NOT NULL REFERENCES builds(id) ON DELETE CASCADE, selection TEXT NOT NULL, time INTEGER NOT NULL,
  UNIQUE (build, selection)
);
CREATE TABLE pins (
  id INTEGER PRIMARY KEY, product TEXT NOT NULL, build_config TEXT NOT NULL, time INTEGER NOT NULL, UNIQUE (product, build_config)
);
CREATE TABLE forgotten (
  id INTEGER PRIMARY KEY, product TEXT NOT NULL, name TEXT NOT NULL, build_config TEXT NOT NULL, cdn_config TEXT NOT NULL,
  cdn_path TEXT NOT NULL, config_path TEXT NOT NULL, time INTEGER NOT NULL, UNIQUE (product, build_config)
);
CREATE TABLE arrivals (build INTEGER PRIMARY KEY REFERENCES builds(id) ON DELETE CASCADE, time INTEGER NOT NULL);
CREATE TABLE leaving (path TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL);
INSERT INTO selections (build, selection, time) SELECT id, selection, time FROM builds WHERE selection IS NOT NULL;
INSERT INTO arrivals SELECT id, time FROM builds;
${keptRowSums}
CREATE TRIGGER builds_arrived AFTER INSERT ON builds BEGIN INSERT INTO arrivals VALUES (new.id, new.time); END;
CREATE TRIGGER builds_selected AFTER UPDATE OF selection ON builds WHEN new.selection IS NOT NULL BEGIN
  INSERT INTO selections (build, selection, time) VALUES (new.id, new.selection, new.time) ON CONFLICT DO NOTHING;
END;
`;

const migrations = [versionOne, versionTwo, rowSums, versionFour, historyTables, pulledTable];
/** The oldest schema that can be read as it is. */
const oldestReadable = 1;

/**
 * Brings a ledger to the newest schema, each step in one transaction.
 * @param onNew what a ledger that is new begins with, in the same transaction
 * @throws E_STORE_SCHEMA when a newer pakrat wrote it
 */
export function migrate(db: Sqlite, onNew: () => void): void {
  if (schemaOf(db) === migrations.length) return;
  db.transaction(() => {
    // Another process may have been first, between the look above and this lock.
    const current = schemaOf(db);
    for (const step of migrations.slice(current)) db.exec(step);
    if (current === 0) onNew();
    db.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

/** Demands that a ledger which may not be written can be read as it is. @throws E_STORE_SCHEMA */
export function demandSchema(db: Sqlite): void {
  const found = schemaOf(db);
  if (found >= oldestReadable) return;
  throw new PakratError('E_STORE_SCHEMA', `the ledger has schema ${found}, this pakrat needs ${migrations.length}`, {
    hint: 'Open the store once where it may be written.',
  });
}

/** The schema that a ledger has, 0 for a new one. @throws E_STORE_SCHEMA when a newer pakrat wrote it */
function schemaOf(db: Sqlite): number {
  const found = db.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0;
  if (found <= migrations.length) return found;
  throw new PakratError(
    'E_STORE_SCHEMA',
    `the ledger has schema ${found}, this pakrat knows up to ${migrations.length}`,
    { hint: 'Use the newer pakrat that wrote this store.' },
  );
}
