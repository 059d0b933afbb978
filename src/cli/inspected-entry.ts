import type { Build } from '../builds/build.ts';
import type { EntryPlace } from '../builds/objects.ts';
import { isPakratError, PakratError } from '../core/errors.ts';
import { chunkKeyName } from '../formats/blte/cipher.ts';
import { decodeBlteHeader } from '../formats/blte/header.ts';
import type { KeyRing } from '../formats/blte/keys.ts';
import { Session } from './compose.ts';
import type { GlobalOptions } from './global-options.ts';
import type { InspectedObject } from './inspected-object.ts';

/**
 * The encoded bytes of an entry that the store holds, found through the builds that it knows. Nothing is fetched.
 * @param key 32 hex digits: an ekey or a ckey
 * @param maxSize most bytes @throws E_UNSUPPORTED for an entry of more
 */
export async function readStoredEntry(
  key: string,
  options: GlobalOptions,
  maxSize: number,
): Promise<InspectedObject | undefined> {
  let session: Session;
  try {
    session = new Session({ ...options, offline: true }, { create: false, threads: 0 }, { note: () => {} });
  } catch (error) {
    return unlessMissing(error);
  }
  try {
    for (const identity of session.store.ledger.builds()) {
      const found = await readFromBuild(() => session.openBuild(identity), key, maxSize);
      if (found !== undefined) return found;
    }
    return undefined;
  } finally {
    await session.close();
  }
}

async function readFromBuild(
  open: () => Promise<Build>,
  key: string,
  maxSize: number,
): Promise<InspectedObject | undefined> {
  let build: Build | undefined;
  try {
    build = await open();
    for (const place of placesOf(build, key)) {
      if (place.size > maxSize) throw new PakratError('E_UNSUPPORTED', `entry ${place.ekey} has ${place.size} bytes`);
      const bytes = await readHeld(build, place);
      if (bytes !== undefined) return { bytes, keys: keysFor(bytes, build.keys), name: key };
    }
    return undefined;
  } catch (error) {
    // A build that is not all there may still not be the one that was meant.
    return unlessMissing(error);
  } finally {
    build?.close();
  }
}

/** The keys that an entry needs, as they are now: the store is closed when they are used. */
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

function placesOf(build: Build, key: string): EntryPlace[] {
  const ekeys = [key, ...(build.encoding.findCkey(key)?.ekeys ?? [])];
  return ekeys.flatMap((ekey) => build.locate(ekey) ?? []);
}

async function readHeld(build: Build, place: EntryPlace): Promise<Uint8Array | undefined> {
  try {
    await build.objects.entries([place]);
    const { read, close } = build.openEncoded(place);
    try {
      return await read(0, place.size);
    } finally {
      close();
    }
  } catch (error) {
    return unlessMissing(error);
  }
}

function unlessMissing(error: unknown): undefined {
  if (isPakratError(error) && ['E_NOT_FOUND', 'E_OFFLINE'].includes(error.code)) return undefined;
  throw error;
}
