import { breathe } from '../../core/breathe.ts';
import { asBuffer } from '../../core/bytes.ts';
import type { Build } from '../build.ts';
import { type BuildFile, listFiles, resolveParts, sizeOf } from '../files.ts';
import { type EspecLocks, findEspecLocks, heldKeyNames } from './espec-locks.ts';
import { addFile, type MissingKey } from './missing-key.ts';

/**
 * The keys that are missing to read a build, the one that locks the most first. Costs a walk over the encoding file and the names:
 * especs tell which keys an object needs. Where there is no espec the chunks of the object tell, if it is held. Fetches no data.
 * @param options.locale files are counted in the variants for this locale
 * @throws as listFiles
 */
export async function missingKeys(build: Build, options: { locale: string }): Promise<MissingKey[]> {
  const rows = new Map<string, MissingKey>();
  const locks = await findEspecLocks(build);
  const contents = lockedContents(build, locks, (key, size) => {
    const row = rowOf(rows, key);
    row.entries += 1;
    row.encodedBytes += size;
  });
  for await (const batch of listFiles(build, { ...options, matches: () => true })) {
    for (const file of batch) {
      await breathe();
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

/** The missing keys that a file needs. */
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
  const known = build.encoding.findEkey(ekey);
  if (known !== undefined && build.encoding.espec(known.especIndex) !== undefined) {
    return locks.get(known.especIndex) ?? [];
  }
  const place = build.locate(ekey);
  if (place === undefined) return [];
  return [...(await heldKeyNames(build, place))].filter((key) => build.keys.find(key) === undefined);
}
