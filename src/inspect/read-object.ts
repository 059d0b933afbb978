import { existsSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { Build } from '../builds/build.ts';
import type { EntryPlace } from '../builds/objects.ts';
import { isUnavailable, PakratError, resultUnless, valueUnless } from '../core/errors.ts';
import { gatherAtMost, givenPieces } from '../files/given/given-file.ts';
import { reading, readOwn } from '../files/read-at.ts';
import { chunkKeyName } from '../formats/blte/cipher.ts';
import { decodeBlteHeader } from '../formats/blte/header.ts';
import type { KeyRing } from '../formats/blte/keys.ts';
import type { OpenedBuild } from '../keep/build-opener.ts';
import { isLacking, readDerived } from '../store/derived/derived-file.ts';
import type { BuildIdentity } from '../store/ledger/rows.ts';
import type { Store } from '../store/store.ts';

interface InspectedObject {
  bytes: Uint8Array;
  keys: KeyRing;
  /** Name of the object; undefined for an archive, whose name is that of its index. */
  name: string | undefined;
}

/** Bytes that are read into memory at most. */
const maxSize = 1024 ** 3;
/** The same for what does not say how large it is. */
const maxStreamed = 256 * 1024 ** 2;

/**
 * Reads an object that a person named: a file; an object of the store by its name (32 hex digits, `.index` behind it for an index; of an
 * archive, its index is meant); a manifest by its content key; an entry of an archive by its encoding key or content key, where the store
 * holds it.
 * @param sources.open opens builds of the store without a network
 * @throws E_NOT_FOUND, E_UNSUPPORTED when it is too large
 */
export async function readInspected(
  name: string,
  sources: { store: Store | undefined; keys: KeyRing; open: BuildReader },
): Promise<InspectedObject> {
  const { store, keys, open } = sources;
  const path = existsSync(name) ? name : objectFile(name, store);
  if (path !== undefined) return { keys, ...(await readWhole(path, store)) };
  const key = name.toLowerCase();
  const entry = store && (await readStoredEntry(key, store.ledger.builds(), open));
  if (entry !== undefined) return { ...entry, name: key };
  const where =
    store === undefined ? 'there is no store, nor a file' : `the store at ${store.layout.root} does not hold`;
  throw new PakratError('E_NOT_FOUND', `${where} ${name}`, {
    hint: 'Name a file, or an object or entry of a build that was synced.',
    data: { object: name },
  });
}

/** An object of the store may be encrypted as a whole. */
async function readWhole(path: string, store: Store | undefined): Promise<Omit<InspectedObject, 'keys'>> {
  const found = statSync(path);
  if (found.isDirectory()) {
    throw new PakratError('E_USAGE', `${path} is a folder, a file is needed`, {
      hint: 'A folder is shown by `pakrat info`.',
      data: { path },
    });
  }
  if (!found.isFile()) return { name: undefined, bytes: await readStream(givenPieces(path), path) };
  if (found.size > maxSize) {
    const most = `no object that can be shown has more than ${maxSize}`;
    throw new PakratError('E_UNSUPPORTED', `${path} has ${found.size} bytes, and ${most}`, {
      hint: 'A PAK archive is shown by `pakrat info FILE`.',
    });
  }
  const derived = resultUnless(isLacking, () => readDerived(path, { keep: true }));
  if (derived !== undefined) return { name: basename(path), bytes: derived };
  const bytes = reading(path, () => readOwn(path));
  return {
    name: existsSync(`${path}.index`) ? undefined : basename(path),
    bytes: store?.objectKeys.decrypt(relative(store.layout.root, path), bytes) ?? bytes,
  };
}

/**
 * Reads all of a stream that may never end.
 * @param what its name for an error
 * @throws E_UNSUPPORTED when it is too large
 */
export async function readStream(stream: AsyncIterable<Uint8Array>, what: string): Promise<Uint8Array> {
  return gatherAtMost(maxStreamed, stream, () => {
    const hint = 'What is larger is shown from a file.';
    return new PakratError('E_UNSUPPORTED', `${what} has more than ${maxStreamed} bytes`, { hint });
  });
}

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

type BuildReader = (identity: BuildIdentity) => Promise<OpenedBuild>;

/**
 * Finds an entry that a store holds, through the builds that it knows. Nothing is fetched.
 * @param key 32 hex digits: an ekey or a ckey
 * @throws E_UNSUPPORTED for an entry of too many bytes
 */
async function readStoredEntry(
  key: string,
  builds: readonly BuildIdentity[],
  open: BuildReader,
): Promise<Pick<InspectedObject, 'bytes' | 'keys'> | undefined> {
  for (const identity of builds) {
    // A build that is not all there may still not be the one that was meant.
    const found = await valueUnless(
      isUnavailable,
      open(identity).then((opened) => readFromBuild(opened, key)),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

async function readFromBuild(
  { build, close }: OpenedBuild,
  key: string,
): Promise<Pick<InspectedObject, 'bytes' | 'keys'> | undefined> {
  try {
    const ekeys = await build.lookUp(() => build.encoding.findCkey(key)?.ekeys ?? []);
    for (const ekey of [key, ...ekeys]) {
      const place = await build.lookUp(() => build.locate(ekey));
      const bytes = place && (await valueUnless(isUnavailable, readHeld(build, place)));
      if (bytes !== undefined) return { bytes, keys: keysFor(bytes, build.keys) };
    }
    return undefined;
  } finally {
    await close();
  }
}

/** The keys that an entry needs, as they are now: the build is closed when they are used. */
function keysFor(bytes: Uint8Array, ring: KeyRing): KeyRing {
  const header = decodeBlteHeader(bytes, bytes.length);
  const keys = new Map<string, Uint8Array | undefined>();
  for (let i = 0; i < header.count; i++) {
    const { offset, encodedSize } = header.chunk(i);
    const name = chunkKeyName(bytes.subarray(offset, offset + Math.min(encodedSize, maxKeyHead)));
    if (name !== undefined) keys.set(name, ring.find(name));
  }
  return { find: (name) => keys.get(name) };
}

/** An encrypted chunk names its key in its first bytes. */
const maxKeyHead = 64;

async function readHeld(build: Build, place: EntryPlace): Promise<Uint8Array> {
  if (place.size > maxSize) throw new PakratError('E_UNSUPPORTED', `entry ${place.ekey} has ${place.size} bytes`);
  await build.objects.entries([place]);
  const { read, close } = build.openEncoded(place);
  try {
    return await read(0, place.size);
  } finally {
    close();
  }
}
