import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fromHex } from '../core/bytes.ts';
import { PakratError } from '../core/errors.ts';
import { emptyKeyRing, type KeyRing } from '../formats/blte/keys.ts';
import { openStore, type Store } from '../store/store.ts';
import type { GlobalOptions } from './global-options.ts';

/** Bytes to inspect, and the keys that the store has for them. */
export interface InspectedObject {
  bytes: Uint8Array;
  keys: KeyRing;
  /** What the object is called; undefined for an archive, whose name is that of its index. */
  name: string | undefined;
}

/** What is read into memory at most. */
const maxSize = 1024 ** 3;

/**
 * Reads what a person named: a file; an object of the store by its name (32 hex digits, `.index` behind it for an index; of an archive, its
 * index is meant); a manifest by its content key; an entry of an archive by its encoding key or content key, where the store holds it.
 * Without a store there are no keys.
 * @throws E_NOT_FOUND, E_UNSUPPORTED when it is too large
 */
export async function readInspected(name: string, options: GlobalOptions): Promise<InspectedObject> {
  const found = readFileOrObject(name, options.store);
  if (found !== undefined) return found;
  const { readStoredEntry } = await import('./inspected-entry.ts');
  const entry = await readStoredEntry(name.toLowerCase(), options, maxSize);
  if (entry !== undefined) return entry;
  throw new PakratError('E_NOT_FOUND', `the store at ${options.store} does not hold ${name}`, {
    hint: 'Name a file, or an object or entry of a build that was synced.',
    data: { object: name },
  });
}

/** Undefined for a hash that no object of the store is called by. */
function readFileOrObject(name: string, storeFolder: string): InspectedObject | undefined {
  const store = openIfThere(storeFolder);
  try {
    const path = existsSync(name) ? name : objectFile(name, store);
    if (path === undefined) return undefined;
    const found = statSync(path);
    if (found.isDirectory()) {
      throw new PakratError('E_USAGE', `${path} is a folder, a file is needed`, {
        hint: 'A folder is shown by `pakrat info`.',
        data: { path },
      });
    }
    const { size } = found;
    if (size > maxSize) {
      throw new PakratError(
        'E_UNSUPPORTED',
        `${path} has ${size} bytes, and no object that can be shown has more than ${maxSize}`,
        { hint: 'A PAK archive is shown by `pakrat info FILE`.' },
      );
    }
    return {
      name: existsSync(`${path}.index`) ? undefined : basename(path),
      bytes: decrypted(new Uint8Array(readFileSync(path)), relative(storeFolder, path), store),
      keys: store === undefined ? emptyKeyRing : keysOf(store),
    };
  } finally {
    store?.close();
  }
}

/** An object of the store may be encrypted as a whole. @param path below the store; of a file elsewhere it leads out of it */
function decrypted(bytes: Uint8Array, path: string, store: Store | undefined): Uint8Array {
  return store?.objectKeys.decrypt(path, bytes) ?? bytes;
}

function openIfThere(folder: string): Store | undefined {
  try {
    return openStore(folder, { create: false });
  } catch (error) {
    if ((error as { code?: string }).code === 'E_NOT_FOUND') return undefined;
    throw error;
  }
}

/** The file of an object of the store, or of a decoded manifest. */
function objectFile(name: string, store: Store | undefined): string | undefined {
  if (!/^[0-9a-f]{32}(\.index)?$/i.test(name))
    throw new PakratError('E_NOT_FOUND', `there is no file ${name}`, { data: { path: name } });
  if (store === undefined) return undefined;
  const wanted = name.toLowerCase();
  const held = new Set<string>();
  for (const { path, complete } of store.ledger.objects()) {
    if (complete && path.split('/').at(-1)?.startsWith(wanted)) held.add(path);
  }
  const path = [...held].find((candidate) => candidate.endsWith('.index')) ?? [...held][0];
  if (path !== undefined) return store.file(path);
  const manifest = join(store.layout.manifests, wanted);
  return existsSync(manifest) ? manifest : undefined;
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
