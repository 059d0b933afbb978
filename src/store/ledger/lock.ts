import type Database from 'better-sqlite3';
import { codeOf, PakratError } from '../../core/errors.ts';
import { openDatabase } from './sqlite.ts';
import { sqliteError } from './sqlite-error.ts';

/**
 * Takes the store's writer lock and gives back its release. The lock is a held SQLite transaction, so the system lets go of it
 * when the process dies, however it dies.
 * @throws E_STORE_LOCKED when another process holds it, E_STORE_FULL, E_STORE
 */
export function lockStore(path: string): () => void {
  let db: Database.Database | undefined;
  try {
    db = openDatabase(path, { timeout: 0 });
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db?.close();
    if (!codeOf(error)?.startsWith('SQLITE_BUSY')) throw sqliteError(error, path);
    throw new PakratError('E_STORE_LOCKED', 'another sync is writing to this store', {
      hint: 'Wait for it to end, or use another --store.',
      data: { path },
    });
  }
  const held = db;
  return () => held.close();
}
