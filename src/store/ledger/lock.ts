import { codeOf, PakratError } from '../../core/errors.ts';
import { Sqlite } from './sqlite.ts';

/**
 * Takes the store's writer lock and gives back its release. The lock is a held SQLite transaction, so the system lets go of it
 * when the process dies, however it dies.
 * @throws E_STORE_LOCKED when another process holds it, E_STORE_FULL, E_STORE
 */
export function lockStore(path: string): () => void {
  const db = new Sqlite(path, { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (codeOf(error) !== 'E_STORE_LOCKED') throw error;
    throw new PakratError('E_STORE_LOCKED', 'another sync is writing to this store', {
      hint: 'Wait for it to end, or use another --store.',
      data: { path },
    });
  }
  return () => db.close();
}
