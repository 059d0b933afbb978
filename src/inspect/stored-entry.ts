import type { Build } from '../builds/build.ts';
import type { EntryPlace } from '../builds/objects.ts';
import { isUnavailable, PakratError, valueUnless } from '../core/errors.ts';
import { chunkKeyName } from '../formats/blte/cipher.ts';
import { decodeBlteHeader } from '../formats/blte/header.ts';
import type { KeyRing } from '../formats/blte/keys.ts';
import type { OpenedBuild } from '../keep/build-opener.ts';
import type { BuildIdentity } from '../store/ledger/rows.ts';

/** The encoded bytes of an entry, with the keys that it needs. */
export interface StoredEntry {
  bytes: Uint8Array;
  keys: KeyRing;
}

/** The builds to look into, what opens one without a network, and the most bytes that an entry may have. */
export interface EntrySearch {
  builds: readonly BuildIdentity[];
  open: (identity: BuildIdentity) => Promise<OpenedBuild>;
  maxSize: number;
}

/**
 * Finds an entry that a store holds, through the builds that it knows. Nothing is fetched.
 * @param key 32 hex digits: an ekey or a ckey
 * @throws E_UNSUPPORTED for an entry of too many bytes
 */
export async function readStoredEntry(key: string, search: EntrySearch): Promise<StoredEntry | undefined> {
  for (const identity of search.builds) {
    // A build that is not all there may still not be the one that was meant.
    const found = await valueUnless(isUnavailable, readFromBuild(identity, key, search));
    if (found !== undefined) return found;
  }
  return undefined;
}

async function readFromBuild(
  identity: BuildIdentity,
  key: string,
  { open, maxSize }: EntrySearch,
): Promise<StoredEntry | undefined> {
  const { build, close } = await open(identity);
  try {
    for (const ekey of [key, ...(build.encoding.findCkey(key)?.ekeys ?? [])]) {
      const place = build.locate(ekey);
      const bytes = place && (await valueUnless(isUnavailable, readHeld(build, place, maxSize)));
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

async function readHeld(build: Build, place: EntryPlace, maxSize: number): Promise<Uint8Array> {
  if (place.size > maxSize) throw new PakratError('E_UNSUPPORTED', `entry ${place.ekey} has ${place.size} bytes`);
  await build.objects.entries([place]);
  const { read, close } = build.openEncoded(place);
  try {
    return await read(0, place.size);
  } finally {
    close();
  }
}
