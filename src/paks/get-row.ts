import { PakratError } from '../core/errors.ts';
import type { PakEntry } from './pak.ts';

/** The row of an entry, by its number. Throws E_NOT_FOUND for an entry of another PAK. */
export function getRow<Row>(rows: readonly Row[], { index }: Pick<PakEntry, 'index'>): Row {
  const row = rows[index];
  if (row === undefined) throw new PakratError('E_NOT_FOUND', `there is no entry ${index}`);
  return row;
}
