import type { Build } from '../builds/build.ts';
import type { EntryPlace } from '../builds/objects.ts';
import { isUnavailable, PakratError } from '../core/errors.ts';
import { chunkKeyName } from '../formats/blte/cipher.ts';
import { decodeBlteHeader } from '../formats/blte/header.ts';
import type { KeyRing } from '../formats/blte/keys.ts';
import type { OpenedBuild } from '../keep/build-opener.ts';
import type { InspectedObject, InspectPlace } from './read-object.ts';

/**
 * The encoded bytes of an entry that the store holds, found through the builds that it knows. Nothing is fetched.
 * @param key 32 hex digits: an ekey or a ckey
 * @param maxSize most bytes
 * @throws E_UNSUPPORTED for an entry of more
 */
export async function readStoredEntry(
  key: string,
  { store, open }: Pick<InspectPlace, 'store' | 'open'>,
  maxSize: number,
): Promise<InspectedObject | undefined> {
  for (const identity of store?.ledger.builds() ?? []) {
    const found = await readFromBuild(() => open(identity), key, maxSize);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function readFromBuild(
  open: () => Promise<OpenedBuild>,
  key: string,
  maxSize: number,
): Promise<InspectedObject | undefined> {
  let opened: OpenedBuild | undefined;
  try {
    opened = await open();
    const { build } = opened;
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
    await opened?.close();
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
  if (!isUnavailable(error)) throw error;
  return undefined;
}
