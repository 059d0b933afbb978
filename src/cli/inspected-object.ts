import { existsSync, readFileSync, statSync } from 'node:fs';
import { fromHex } from '../core/bytes.ts';
import { PakratError } from '../core/errors.ts';
import { emptyKeyRing, type KeyRing } from '../formats/blte/keys.ts';
import { openStore, type Store } from '../store/store.ts';

/** Bytes to inspect, and the keys that the store has for them. */
export interface InspectedObject {
  /** The file they were read from. */
  path: string;
  bytes: Uint8Array;
  keys: KeyRing;
}

/** What is read into memory at most. */
const maxSize = 1024 ** 3;

/**
 * Reads what a person named: a file, or an object of the store by its name (32 hex digits, `.index` behind it for an index;
 * of an archive, its index is meant). Without a store there are no keys.
 * @throws E_NOT_FOUND, E_UNSUPPORTED when it is too large
 */
export function readInspected(name: string, storeFolder: string): InspectedObject {
  const store = openIfThere(storeFolder);
  try {
    const path = existsSync(name) ? name : objectFile(name, storeFolder, store);
    const { size } = statSync(path);
    if (size > maxSize) {
      throw new PakratError(
        'E_UNSUPPORTED',
        `${path} has ${size} bytes, and no object that can be shown has more than ${maxSize}`,
      );
    }
    return {
      path,
      bytes: new Uint8Array(readFileSync(path)),
      keys: store === undefined ? emptyKeyRing : keysOf(store),
    };
  } finally {
    store?.close();
  }
}

function openIfThere(folder: string): Store | undefined {
  try {
    return openStore(folder, { create: false });
  } catch (error) {
    if ((error as { code?: string }).code === 'E_NOT_FOUND') return undefined;
    throw error;
  }
}

function objectFile(name: string, storeFolder: string, store: Store | undefined): string {
  if (!/^[0-9a-f]{32}(\.index)?$/i.test(name))
    throw new PakratError('E_NOT_FOUND', `there is no file ${name}`, { data: { path: name } });
  const wanted = name.toLowerCase();
  const held = new Set<string>();
  for (const { path, complete } of store?.ledger.objects() ?? []) {
    if (complete && path.split('/').at(-1)?.startsWith(wanted)) held.add(path);
  }
  const path = [...held].find((candidate) => candidate.endsWith('.index')) ?? [...held][0];
  if (path === undefined || store === undefined) {
    throw new PakratError('E_NOT_FOUND', `the store at ${storeFolder} does not hold ${wanted}`, {
      hint: 'Entries of archives have no file of their own: `pakrat cat PRODUCT ekey:HEX` gives one of those.',
      data: { object: wanted },
    });
  }
  return store.file(path);
}

/** All keys at once: the store is closed when they are used. */
function keysOf(store: Store): KeyRing {
  const keys = new Map(store.ledger.keys().map(({ name, key }) => [name, key]));
  return {
    find(name) {
      const key = keys.get(name);
      return key === undefined ? undefined : fromHex(key);
    },
  };
}
