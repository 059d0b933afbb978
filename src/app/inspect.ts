import type { Inspection, RowRange } from '../inspect/inspect.ts';
import type { Session } from './session/session.ts';

export { type Inspection, problemOf } from '../inspect/inspect.ts';

/** How to look at an object. */
export interface InspectOptions {
  /** Rows of the innermost table to show. Default the first ten. */
  rows?: RowRange | undefined;
  /** Show the wrapping (the chunks of a BLTE object), not what is inside. */
  encoded?: boolean | undefined;
}

/**
 * Guesses what one object is and describes it.
 * @param object a file; an object, manifest or entry of the store by its key (32 hex digits); or bytes
 * @throws E_NOT_FOUND, E_UNSUPPORTED when it is too large, E_FORMAT… and E_INTEGRITY when it is damaged
 */
export async function inspect(
  session: Session,
  object: string | Uint8Array,
  options: InspectOptions = {},
): Promise<Inspection> {
  const { inspectBytes } = await import('../inspect/inspect.ts');
  if (typeof object !== 'string') return inspectBytes(object, { ...options, keys: session.options.keys });
  const { readInspected } = await import('../inspect/read-object.ts');
  const found = await readInspected(object, {
    store: await session.storeIfThere(),
    storeFolder: session.options.store ?? '',
    open: (identity) => session.openFetched(identity, { offline: true }),
    keys: session.options.keys,
  });
  return inspectBytes(found.bytes, { ...options, keys: found.keys, name: found.name });
}
