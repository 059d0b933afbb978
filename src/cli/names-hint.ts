import { ListfileIndex } from '../builds/listfile-index.ts';
import { isPakratError, PakratError } from '../core/errors.ts';
import type { Source } from '../sources/source.ts';
import type { Session } from './compose.ts';

/** What to do when no name matches: many builds have no names without a list. Undefined where a list is there, or none would help. */
export function namesHint(source: Source, session: Session | undefined): string | undefined {
  if (source.kind !== 'build' || session === undefined) return undefined;
  const list = ListfileIndex.open(session.store.layout);
  list?.close();
  return list === undefined
    ? 'Many files are known by id only until a list of names is there: `pakrat listfile import FILE`.'
    : undefined;
}

/** Adds the hint to an error about a glob that no name matches; any other error is given back. */
export function withNamesHint(error: unknown, source: Source, session: Session | undefined): unknown {
  if (!isPakratError(error) || error.code !== 'E_NOT_FOUND' || error.data.glob === undefined) return error;
  const hint = error.hint ?? namesHint(source, session);
  return new PakratError(error.code, error.message, { hint, data: error.data, cause: error.cause });
}
