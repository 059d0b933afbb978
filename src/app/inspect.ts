import { breathe } from '../core/breathe.ts';
import { throwIfAborted } from '../core/errors.ts';
import type { WorkOptions } from '../core/progress.ts';
import { type Inspection, inspectBytes, type InspectOptions as ObjectOptions } from '../inspect/inspect.ts';
import { readInspected } from '../inspect/read-object.ts';
import type { Session } from './session/session.ts';

export { type Inspection, problemOf } from '../inspect/inspect.ts';

/** The rows of an object that are shown, whether what is wrapped stays wrapped, and a signal that ends the look at it. */
export type InspectOptions = Pick<ObjectOptions, 'rows' | 'encoded'> & Pick<WorkOptions, 'signal'>;

/**
 * Guesses what one object is and describes it.
 * @param object a file; an object, manifest or entry of the store by its key (32 hex digits); or bytes
 * @throws E_NOT_FOUND, E_UNSUPPORTED when it is too large, E_FORMAT… and E_INTEGRITY when it is damaged, E_ABORTED
 */
export async function inspect(
  session: Session,
  object: string | Uint8Array,
  { signal, ...options }: InspectOptions = {},
): Promise<Inspection> {
  throwIfAborted(signal);
  if (typeof object !== 'string') return inspectBytes(object, { ...options, keys: session.options.keys });
  const store = await session.storeIfThere();
  const keys = await session.keyRing();
  const found = await readInspected(object, {
    store,
    keys,
    open: (identity) => session.openFetched(identity, { offline: true }),
  });
  await breathe(signal);
  return inspectBytes(found.bytes, { ...options, keys: found.keys, name: found.name });
}
