import { breathe } from '../core/breathe.ts';
import { type Inspection, inspectBytes, type InspectOptions as ObjectOptions } from '../inspect/inspect.ts';
import { readInspected } from '../inspect/read-object.ts';
import type { Session } from './session/session.ts';

export { type Inspection, problemOf } from '../inspect/inspect.ts';

/** The rows of an object that are shown, and whether what is wrapped stays wrapped. */
export type InspectOptions = Pick<ObjectOptions, 'rows' | 'encoded'>;

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
  if (typeof object !== 'string') return inspectBytes(object, { ...options, keys: session.options.keys });
  const store = await session.storeIfThere();
  const keys = await session.keyRing();
  const found = await readInspected(object, {
    store,
    keys,
    open: (identity) => session.openFetched(identity, { offline: true }),
  });
  await breathe();
  return inspectBytes(found.bytes, { ...options, keys: found.keys, name: found.name });
}
