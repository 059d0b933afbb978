import type { MissingKey } from '../builds/keys/missing-key.ts';
import { PakratError } from '../core/errors.ts';
import type { GlobalOptions } from './global-options.ts';
import { type SourceContext, withSource } from './sources.ts';

/**
 * The keys that are missing to read a source.
 * @throws E_UNSUPPORTED for a source that cannot tell, else as withSource
 */
export function listMissingKeys(options: GlobalOptions, text: string, context: SourceContext): Promise<MissingKey[]> {
  return withSource(options, text, context, async (source) => {
    if (source.missingKeys !== undefined) return source.missingKeys();
    throw new PakratError('E_UNSUPPORTED', `${text}: a source of this kind cannot tell which keys are missing`);
  });
}
