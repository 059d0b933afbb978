import Database from 'better-sqlite3';

/*
 * Handles of databases and statements are kept until the process ends. Node 24.19 and later change the base of the add-on's objects, and
 * a process that collects one of them dies (nodejs/node issue 65446; better-sqlite3 13 is free of it, and needs Node 22). A database that is closed
 * holds no file and no memory of SQLite; what stays of it is some kilobytes.
 */
const kept: object[] = [];

/** Opens a database: a file, or its bytes. Needs `close`. Throws as SQLite does. */
export function openDatabase(source: string | Buffer, options: Database.Options = {}): Database.Database {
  const db = new Database(source, options);
  kept.push(db);
  return db;
}

/** Prepares a statement. Give the same one again where it is asked for again. Throws as SQLite does. */
export function prepare(db: Database.Database, sql: string): Database.Statement {
  const statement = db.prepare(sql);
  kept.push(statement);
  return statement;
}

/** The rows of a statement, one by one. */
export function iterate(statement: Database.Statement): IterableIterator<unknown> {
  const rows = statement.iterate();
  kept.push(rows);
  return rows;
}
