import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fromHex } from '../core/bytes.ts';
import { PakratError } from '../core/errors.ts';
import type { KeyRing } from '../formats/blte/keys.ts';
import type { OpenedBuild } from '../keep/build-opener.ts';
import type { BuildIdentity } from '../store/ledger/rows.ts';
import type { Store } from '../store/store.ts';

/** Bytes to inspect, with the keys for them. */
export interface InspectedObject {
  bytes: Uint8Array;
  keys: KeyRing;
  /** Name of the object; undefined for an archive, whose name is that of its index. */
  name: string | undefined;
}

/** The store in which objects are looked for. */
export interface InspectPlace {
  /** Undefined when there is none: only files can be inspected then. */
  store: Store | undefined;
  /** Empty when none was named. */
  storeFolder: string;
  /** Opens a build of the store without a network. */
  open: (identity: BuildIdentity) => Promise<OpenedBuild>;
  /** Keys that were given; those of the store come behind them. */
  keys: KeyRing;
}

/** Bytes that are read into memory at most. */
const maxSize = 1024 ** 3;

/**
 * Reads an object that a person named: a file; an object of the store by its name (32 hex digits, `.index` behind it for an index; of an
 * archive, its index is meant); a manifest by its content key; an entry of an archive by its encoding key or content key, where the store
 * holds it.
 * @throws E_NOT_FOUND, E_UNSUPPORTED when it is too large
 */
export async function readInspected(name: string, place: InspectPlace): Promise<InspectedObject> {
  const found = readFileOrObject(name, place);
  if (found !== undefined) return found;
  const { readStoredEntry } = await import('./stored-entry.ts');
  const entry = await readStoredEntry(name.toLowerCase(), place, maxSize);
  if (entry !== undefined) return entry;
  const where =
    place.storeFolder === '' ? 'there is no store, nor a file' : `the store at ${place.storeFolder} does not hold`;
  throw new PakratError('E_NOT_FOUND', `${where} ${name}`, {
    hint: 'Name a file, or an object or entry of a build that was synced.',
    data: { object: name },
  });
}

/** Undefined for a hash that no object of the store is called by. */
function readFileOrObject(name: string, { store, storeFolder, keys }: InspectPlace): InspectedObject | undefined {
  const path = existsSync(name) ? name : objectFile(name, store);
  if (path === undefined) return undefined;
  const found = statSync(path);
  if (found.isDirectory()) {
    throw new PakratError('E_USAGE', `${path} is a folder, a file is needed`, {
      hint: 'A folder is shown by `pakrat info`.',
      data: { path },
    });
  }
  if (found.size > maxSize) {
    const most = `no object that can be shown has more than ${maxSize}`;
    throw new PakratError('E_UNSUPPORTED', `${path} has ${found.size} bytes, and ${most}`, {
      hint: 'A PAK archive is shown by `pakrat info FILE`.',
    });
  }
  return {
    name: existsSync(`${path}.index`) ? undefined : basename(path),
    bytes: decrypted(new Uint8Array(readFileSync(path)), relative(storeFolder, path), store),
    keys: store === undefined ? keys : keysOf(store, keys),
  };
}

/** An object of the store may be encrypted as a whole. @param path below the store; of a file elsewhere it leads out of it */
function decrypted(bytes: Uint8Array, path: string, store: Store | undefined): Uint8Array {
  return store?.objectKeys.decrypt(path, bytes) ?? bytes;
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

function keysOf({ ledger }: Store, given: KeyRing): KeyRing {
  return {
    find(name) {
      const key = ledger.key(name);
      return given.find(name) ?? (key === undefined ? undefined : fromHex(key));
    },
  };
}
