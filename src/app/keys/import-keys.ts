import type { WorkOptions } from '../../core/progress.ts';
import { importKeyFiles, type KeyImport } from '../../fetch/lists/import-keys.ts';
import type { Session } from '../session/session.ts';

export type { KeyImport } from '../../fetch/lists/import-keys.ts';

/**
 * Takes the keys of key lists, key ring configs, key files (NAME.ak) and packlist.dat into the store.
 * Nothing is taken when one of the files is bad.
 * @throws E_FORMAT that names file and line, E_NOT_FOUND, E_STORE…, E_ABORTED
 */
export async function importKeys(
  session: Session,
  files: readonly string[],
  { signal }: Pick<WorkOptions, 'signal'> = {},
): Promise<KeyImport> {
  const { ledger } = await session.store({ create: true });
  return importKeyFiles(ledger, files, signal);
}
