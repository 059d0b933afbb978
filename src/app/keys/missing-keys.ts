import type { MissingKey } from '../../builds/keys/missing-key.ts';
import { PakratError } from '../../core/errors.ts';
import type { Source } from '../../sources/source.ts';
import { type SourceOptions, withSource } from '../session/open-source.ts';
import type { Session } from '../session/session.ts';

export type { MissingKey } from '../../builds/keys/missing-key.ts';

/**
 * Lists the keys that are missing to read a source, and what they lock.
 * @throws E_UNSUPPORTED for a source that cannot tell, else as opening it does
 */
export function missingKeys(session: Session, name: string, options: SourceOptions = {}): Promise<MissingKey[]> {
  return withSource(session, name, options, ({ source }) => missingKeysOf(source, options.signal));
}

/** As {@link missingKeys}, of a source that is open. */
export async function missingKeysOf(source: Source, signal?: AbortSignal): Promise<MissingKey[]> {
  if (source.missingKeys !== undefined) return source.missingKeys(signal);
  throw new PakratError('E_UNSUPPORTED', `${source.label}: a source of this kind cannot tell which keys are missing`);
}
