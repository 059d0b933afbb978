import type { Pak, PakEntry } from './pak.ts';

/** The entries of a PAK one at a time: there may be millions, and all of them at once would fill the memory. */
export interface ManyEntries {
  /** Throws as `Pak.entries`, as the others do. */
  readonly count: number;
  /** The entry of a number, made for this call. */
  at(index: number): PakEntry | undefined;
  /** The directory as plain data in shared memory; undefined where each thread has to read it. */
  share(): unknown;
}

// No members of the PAK itself: whoever wraps one and gives it other entries is asked for these.
const known = new WeakMap<Pak, ManyEntries>();

/** Says that the entries of a PAK can be had one at a time. */
export function offerEntries(pak: Pak, entries: ManyEntries): void {
  known.set(pak, entries);
}

/** How many entries a PAK has. Throws as `Pak.entries`. */
export function countEntries(pak: Pak): number {
  return known.get(pak)?.count ?? pak.entries.length;
}

/** The entry of a number, without making all of them where there may be many; undefined when there is none. Throws as `Pak.entries`. */
export function entryAt(pak: Pak, index: number): PakEntry | undefined {
  const entries = known.get(pak);
  return entries === undefined ? pak.entries[index] : entries.at(index);
}

/** Every entry of a PAK in its order, one at a time where there may be many. Throws as `Pak.entries`. */
export function* eachEntry(pak: Pak): Generator<PakEntry> {
  const entries = known.get(pak);
  if (entries === undefined) {
    yield* pak.entries;
    return;
  }
  for (let index = 0; index < entries.count; index++) {
    const entry = entries.at(index);
    if (entry !== undefined) yield entry;
  }
}

/** The directory of an open PAK, or of a folder of them, as plain data, for threads that open the same. */
export interface SharedDirectory {
  /** As the PAK names it. */
  family: string;
  /** Of the family. */
  directory: unknown;
}

/** The directory of an open PAK for threads, or undefined where each has to read it. Throws as `Pak.entries`. */
export function shareDirectory(pak: Pak): SharedDirectory | undefined {
  const directory = known.get(pak)?.share();
  return directory === undefined ? undefined : { family: pak.family, directory };
}
