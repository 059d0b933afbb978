import { codeOf, messageOf, PakratError } from '../../core/errors.ts';
import { fullError } from '../../files/durable.ts';

/** Turns an error of SQLite into one of ours; any other comes back as it is. */
export function sqliteError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (!code?.startsWith('SQLITE_')) return error;
  const options = { cause: error, data: { path, sqlite: code } };
  if (code === 'SQLITE_FULL') return fullError(path, error);
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) {
    return new PakratError('E_STORE_DAMAGED', `${path} is damaged or not a ledger: ${messageOf(error)}`, {
      ...options,
      hint: 'Move ledger.db away and sync again; objects that are on disk are checked and taken over.',
    });
  }
  if (code.startsWith('SQLITE_BUSY')) {
    return new PakratError('E_STORE_LOCKED', `another process is writing to ${path}`, options);
  }
  if (code.startsWith('SQLITE_READONLY')) {
    return new PakratError('E_STORE', `no permission to write ${path}`, {
      ...options,
      hint: 'A store that may not be written can be read with --offline.',
    });
  }
  return new PakratError('E_STORE', `${path}: ${messageOf(error)}`, options);
}
