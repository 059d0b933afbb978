import { codeOf, isPakratError } from '../../core/errors.ts';
import { chunkKeyName } from '../../formats/blte/cipher.ts';
import { readBlteHeader } from '../../formats/blte/read.ts';
import { reverseName } from '../../formats/configs/key-list.ts';
import type { Build } from '../build.ts';
import type { EntryPlace } from '../objects.ts';

/** Missing keys, as key lists print them, by the number of the espec that needs them. */
export type EspecLocks = ReadonlyMap<number, readonly string[]>;

/** Enough of a chunk for its key name. */
const chunkHeadSize = 32;
/** Objects of an espec that are looked at, at most, for the name that its key really has. */
const mostLooks = 64;

/** The especs of a build that need keys which are missing. */
export async function findEspecLocks(build: Build): Promise<EspecLocks> {
  const { encoding, keys } = build;
  const written = new Map<number, string[]>();
  for (const [index, espec] of encoding.especs().entries()) {
    // A key counts as known whichever way round its name is written, as in the ring of a build.
    const missing = especKeys(espec).filter((key) => !keys.find(reverseName(key)) && !keys.find(key));
    if (missing.length > 0) written.set(index, missing);
  }
  const names = await printedNames(build, written);
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
): Promise<Map<string, string>> {
  const names = new Map([...written.values()].flat().map((key) => [key, reverseName(key)]));
  const unsure = new Set(names.keys());
  const looked = new Map<number, number>();
  for (const { ekey, especIndex, size } of build.encoding.ekeys((espec) => written.has(espec))) {
    if (unsure.size === 0) break;
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
export async function heldKeyNames(build: Build, place: EntryPlace): Promise<Set<string>> {
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
    if (!isPakratError(error) && codeOf(error) !== 'ENOENT') throw error;
  }
  return found;
}
