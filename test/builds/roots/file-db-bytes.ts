import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromHex } from '../../../src/core/bytes.ts';
import { Sqlite } from '../../../src/store/ledger/sqlite.ts';

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
  const folder = fs.mkdtempSync(join(tmpdir(), 'file-db-'));
  const db = new Sqlite(join(folder, 'file.db'));
  db.exec(
    'CREATE TABLE meta (id INTEGER PRIMARY KEY, entry_count INTEGER); CREATE TABLE tags (id INTEGER PRIMARY KEY, data BLOB)',
  );
  db.exec(schema);
  db.run('INSERT INTO meta VALUES (1, ?)', files.length);
  for (const [i, { path, ekey, ckey, size, encodedSize }] of schema === usual ? files.entries() : []) {
    db.run('INSERT INTO files VALUES (?, ?, ?, ?, ?, 0, ?)', i, fromHex(ekey), fromHex(ckey), encodedSize, size, path);
  }
  db.close();
  const bytes = new Uint8Array(fs.readFileSync(join(folder, 'file.db')));
  fs.rmSync(folder, { recursive: true });
  return bytes;
}

const usual = `CREATE TABLE files (file_index INTEGER PRIMARY KEY, ekey BLOB, ckey BLOB, encoded_size INTEGER,
  decoded_size INTEGER, flags INTEGER, relative_path TEXT)`;
