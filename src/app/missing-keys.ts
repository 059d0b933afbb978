import type { MissingKey } from '../builds/keys/missing-key.ts';
import { PakratError } from '../core/errors.ts';
import { throttled } from '../core/progress.ts';
import { type OpenOptions, withSource } from './session/open-source.ts';
import type { Session } from './session/session.ts';

export type { MissingKey } from '../builds/keys/missing-key.ts';

/**
 * Lists the keys that are missing to read a source, and what they lock.
 * @throws E_UNSUPPORTED for a source that cannot tell, else as opening it does
 */
export function missingKeys(session: Session, name: string, options: OpenOptions = {}): Promise<MissingKey[]> {
  const onProgress = throttled(options.onProgress);
  return withSource(session, name, { ...options, onProgress }, async ({ source }) => {
    if (source.missingKeys !== undefined) return source.missingKeys();
    throw new PakratError('E_UNSUPPORTED', `${name}: a source of this kind cannot tell which keys are missing`);
  });
}
