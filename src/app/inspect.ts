import { breathe } from '../core/breathe.ts';
import { throwIfAborted } from '../core/errors.ts';
import type { WorkOptions } from '../core/progress.ts';
import { readGiven } from '../files/given/given-file.ts';
import { decodeArmadilloKey } from '../formats/armadillo.ts';
import {
  type Inspection,
  inspectBytes,
  inspectEncrypted,
  type InspectOptions as ObjectOptions,
} from '../inspect/inspect.ts';
import { readInspected, readStream } from '../inspect/read-object.ts';
import type { BuildIdentity } from '../store/ledger/rows.ts';
import type { Session } from './session/session.ts';

export { type Inspection, problemOf } from '../inspect/inspect.ts';

/** The rows of an object that are shown, whether what is wrapped stays wrapped, its key, and a signal that ends the look at it. */
export interface InspectOptions extends Pick<ObjectOptions, 'rows' | 'encoded'>, Pick<WorkOptions, 'signal'> {
  /** The key of an object that is encrypted as a whole: a file NAME.ak. */
  key?: string | undefined;
}

/**
 * Guesses what one object is and describes it.
 * @param object a file; an object, manifest or entry of the store by its key (32 hex digits); bytes, or a stream of them
 * @throws E_NOT_FOUND, E_UNSUPPORTED when it is too large, E_FORMAT… and E_INTEGRITY when it is damaged, E_ABORTED
 */
export async function inspect(
  session: Session,
  object: string | Uint8Array | AsyncIterable<Uint8Array>,
  { signal, key, ...options }: InspectOptions = {},
): Promise<Inspection> {
  throwIfAborted(signal);
  const store = await session.storeIfThere();
  const keys = await session.keyRing();
  const found = await read();
  await breathe(signal);
  const known = { ...options, keys: found.keys, name: found.name };
  return key === undefined
    ? inspectBytes(found.bytes, known)
    : inspectEncrypted(found.bytes, await readObjectKey(key), known);

  async function read(): ReturnType<typeof readInspected> {
    if (typeof object === 'string') {
      const open = (identity: BuildIdentity) => session.openFetched(identity, { offline: true });
      return readInspected(object, { store, keys, open });
    }
    const bytes = object instanceof Uint8Array ? object : await readStream(object, 'standard input');
    return { bytes, keys, name: undefined };
  }
}

async function readObjectKey(path: string): Promise<Uint8Array> {
  return decodeArmadilloKey(await readGiven(path));
}
