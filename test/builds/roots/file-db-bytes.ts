import { fromHex } from '../../../src/core/bytes.ts';
import { openDatabase, prepare } from '../../../src/store/ledger/sqlite.ts';

/** A file of a file database. Keys are hex. */
export interface DbFile {
  path: string;
  ekey: string;
  ckey: string;
  size: number;
  encodedSize: number;
}

/** A file database as cascette-py writes it. @param schema of the table of files, in place of the usual one */
export function fileDb(files: readonly DbFile[], schema = usual): Uint8Array {
  const db = openDatabase(':memory:');
  db.exec(
    'CREATE TABLE meta (id INTEGER PRIMARY KEY, entry_count INTEGER); CREATE TABLE tags (id INTEGER PRIMARY KEY, data BLOB)',
  );
  db.exec(schema);
  prepare(db, 'INSERT INTO meta VALUES (1, ?)').run(files.length);
  const insert = schema === usual ? prepare(db, 'INSERT INTO files VALUES (?, ?, ?, ?, ?, 0, ?)') : undefined;
  for (const [i, { path, ekey, ckey, size, encodedSize }] of files.entries()) {
    insert?.run(i, fromHex(ekey), fromHex(ckey), encodedSize, size, path);
  }
  const bytes = new Uint8Array(db.serialize());
  db.close();
  return bytes;
}

const usual = `CREATE TABLE files (file_index INTEGER PRIMARY KEY, ekey BLOB, ckey BLOB, encoded_size INTEGER,
  decoded_size INTEGER, flags INTEGER, relative_path TEXT)`;
