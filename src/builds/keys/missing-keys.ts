import { breathe } from '../../core/breathe.ts';
import { asBuffer } from '../../core/bytes.ts';
import { isDamage, isPakratError, resultUnless } from '../../core/errors.ts';
import { chunkKeyName } from '../../formats/blte/cipher.ts';
import { readBlteHeader } from '../../formats/blte/read.ts';
import { reverseName } from '../../formats/configs/key-list.ts';
import type { Build } from '../build.ts';
import { type BuildFile, listFiles, resolveParts, sizeOf } from '../files.ts';
import type { EntryPlace } from '../objects.ts';
import { addFile, type MissingKey } from './missing-key.ts';

/**
 * The keys that are missing to read a build, the one that locks the most first. Costs a walk over the encoding file and the names:
 * especs tell which keys an object needs. Where there is no espec the chunks of the object tell, if it is held. Fetches no data.
 * @param options.locale files are counted in the variants for this locale
 * @throws as listFiles, E_ABORTED
 */
export async function missingKeys(build: Build, options: KeySearch): Promise<MissingKey[]> {
  return build.lookUp(() => findMissingKeys(build, options));
}

interface KeySearch {
  locale: string;
  signal?: AbortSignal | undefined;
}

async function findMissingKeys(build: Build, { locale, signal }: KeySearch): Promise<MissingKey[]> {
  const rows = new Map<string, MissingKey>();
  const locks = await findEspecLocks(build, signal);
  const contents = lockedContents(build, locks, (key, size) => {
    const row = rowOf(rows, key);
    row.entries += 1;
    row.encodedBytes += size;
  });
  for await (const batch of listFiles(build, { locale, matches: () => true })) {
    for (const file of batch) {
      await breathe(signal);
      const keys = await keysOfFile(build, file, { locks, contents });
      if (keys.size === 0) continue;
      const size = sizeOf(resolveParts(build, file)) ?? 0;
      for (const key of keys) addFile(rowOf(rows, key), file.name, size);
    }
  }
  return [...rows.values()].sort((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0) || (a.key < b.key ? -1 : 1));
}

type BuildRow = MissingKey & { entries: number; encodedBytes: number };

function rowOf(rows: Map<string, MissingKey>, key: string): BuildRow {
  const row = rows.get(key) ?? { key, files: 0, bytes: 0, names: [], entries: 0, encodedBytes: 0 };
  rows.set(key, row);
  return row as BuildRow;
}

/** Missing keys by ckey, of contents whose every encoding is locked. */
type LockedContents = ReadonlyMap<string, readonly string[]>;

function lockedContents(
  build: Build,
  locks: EspecLocks,
  onEntry: (key: string, encodedSize: number) => void,
): LockedContents {
  const contents = new Map<string, readonly string[]>();
  if (locks.size === 0) return contents;
  const entries = new Map<string, readonly string[]>();
  // Numbers are compared before keys, for most of millions of contents are not locked.
  const starts = new Set<number>();
  for (const { ekey, especIndex, size } of build.encoding.ekeys((espec) => locks.has(espec))) {
    const keys = locks.get(especIndex) ?? [];
    entries.set(ekey, keys);
    starts.add(Number.parseInt(ekey.slice(0, 8), 16));
    for (const key of keys) onEntry(key, size);
  }
  for (const { ckey, ekeys } of build.encoding.ckeys((ekey) => starts.has(asBuffer(ekey).readUInt32BE(0)))) {
    const keys = entries.get(ekeys[0] ?? '');
    if (keys !== undefined && ekeys.every((ekey) => entries.has(ekey))) contents.set(ckey, keys);
  }
  return contents;
}

async function keysOfFile(
  build: Build,
  file: BuildFile,
  { locks, contents }: { locks: EspecLocks; contents: LockedContents },
): Promise<Set<string>> {
  const keys = new Set<string>();
  for (const { ckey, ekey } of file.parts) {
    const needed = ckey === undefined ? await keysOfEntry(build, ekey, locks) : contents.get(ckey);
    for (const key of needed ?? []) keys.add(key);
  }
  return keys;
}

/** The missing keys that an entry needs: by its espec, else by its chunks when it is held. */
async function keysOfEntry(build: Build, ekey: string | undefined, locks: EspecLocks): Promise<readonly string[]> {
  if (ekey === undefined) return [];
  const known = resultUnless(isDamage, () => build.encoding.findEkey(ekey));
  if (known !== undefined && build.encoding.espec(known.especIndex) !== undefined) {
    return locks.get(known.especIndex) ?? [];
  }
  const place = build.locate(ekey);
  if (place === undefined) return [];
  return [...(await heldKeyNames(build, place))].filter((key) => build.keys.find(key) === undefined);
}

/** Missing keys, as key lists print them, by the number of the espec that needs them. */
type EspecLocks = ReadonlyMap<number, readonly string[]>;

/** Enough of a chunk for its key name. */
const chunkHeadSize = 32;
/** Objects of an espec that are looked at, at most, for the name that its key really has. */
const mostLooks = 64;

/** The especs of a build that need keys which are missing. @throws E_ABORTED */
export async function findEspecLocks(build: Build, signal?: AbortSignal): Promise<EspecLocks> {
  const { encoding, keys } = build;
  const written = new Map<number, string[]>();
  for (const [index, espec] of encoding.especs().entries()) {
    // A key counts as known whichever way round its name is written, as in the ring of a build.
    const missing = especKeys(espec).filter((key) => !keys.find(reverseName(key)) && !keys.find(key));
    if (missing.length > 0) written.set(index, missing);
  }
  const names = await printedNames(build, written, signal);
  return new Map([...written].map(([index, missing]) => [index, missing.map((key) => names.get(key) ?? key)]));
}

/** The names of keys in an espec as they stand there, lower-case, each once. */
export function especKeys(espec: string): string[] {
  const found = Array.from(espec.matchAll(/e:\{([0-9a-f]{16}),/gi), ([, key = '']) => key.toLowerCase());
  return [...new Set(found)];
}

/**
 * The names of the keys of especs, as key lists print them. In an espec a name stands as on the wire, reversed; but not every writer does so,
 * and an object that is held has the last word.
 */
async function printedNames(
  build: Build,
  written: ReadonlyMap<number, readonly string[]>,
  signal: AbortSignal | undefined,
): Promise<Map<string, string>> {
  const names = new Map([...written.values()].flat().map((key) => [key, reverseName(key)]));
  const unsure = new Set(names.keys());
  const looked = new Map<number, number>();
  for (const { ekey, especIndex, size } of build.encoding.ekeys((espec) => written.has(espec))) {
    if (unsure.size === 0) break;
    await breathe(signal);
    const keys = written.get(especIndex)?.filter((key) => unsure.has(key)) ?? [];
    const count = looked.get(especIndex) ?? 0;
    const place = keys.length > 0 && count < mostLooks ? build.locate(ekey, size) : undefined;
    if (place === undefined) continue;
    looked.set(especIndex, count + 1);
    const found = await heldKeyNames(build, place);
    for (const key of keys) {
      if (found.has(key)) names.set(key, key);
      if (found.has(key) || found.has(reverseName(key))) unsure.delete(key);
    }
  }
  return names;
}

/** The keys that the chunks of an entry name, as key lists print them; none when it is not held. What lies under a first encryption is not seen. */
async function heldKeyNames(build: Build, place: EntryPlace): Promise<Set<string>> {
  const found = new Set<string>();
  try {
    const { read, close } = build.openEncoded(place);
    try {
      const header = await readBlteHeader(read, place.size);
      for (let i = 0; i < header.count; i++) {
        const { offset, encodedSize } = header.chunk(i);
        const name = chunkKeyName(await read(offset, Math.min(chunkHeadSize, encodedSize)));
        if (name !== undefined) found.add(name);
      }
    } finally {
      close();
    }
  } catch (error) {
    // Not held, or damaged: then nothing is known of it.
    if (!isPakratError(error)) throw error;
  }
  return found;
}
