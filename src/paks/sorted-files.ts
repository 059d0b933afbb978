import { breathe } from '../core/breathe.ts';
import { PakratError } from '../core/errors.ts';
import { seededHash } from '../core/hash.ts';
import { compareNames } from '../core/names/name-order.ts';
import type { PackFile } from './packing.ts';

/** Files in the order of their names' bytes, which can be gone through again and again. There may be millions: each is made when its turn comes. */
export interface SortedFiles<File extends PackFile = PackFile> extends Iterable<File> {
  readonly isSorted: true;
  /** How many there are. */
  readonly count: number;
}

/** Work on rows that takes microseconds each looks at the clock once for so many. */
export const rowsPerTurn = 1 << 10;

/**
 * The files in the order of their names' bytes, so that the same files always give the same PAK.
 * @param key two names with the same key cannot both be in the PAK
 * @throws E_USAGE for names that are empty, absolute, step out of the folder or are there twice, E_ABORTED
 */
export async function sortForPacking<File extends PackFile>(
  files: Iterable<File> | SortedFiles<File>,
  key: (name: string) => string,
  signal?: AbortSignal,
): Promise<SortedFiles<File>> {
  const sorted = 'isSorted' in files ? files : sortedInMemory(files);
  await checkNames(sorted, key, signal);
  return sorted;
}

function sortedInMemory<File extends PackFile>(files: Iterable<File>): SortedFiles<File> {
  const sorted = [...files].sort((a, b) => compareNames(a.name, b.name));
  return { isSorted: true, count: sorted.length, [Symbol.iterator]: () => sorted.values() };
}

/** Only hashes of all keys are held, 8 bytes each; where some are equal, those few are looked at again, by their keys. */
async function checkNames(files: SortedFiles, key: (name: string) => string, signal?: AbortSignal): Promise<void> {
  const words = new Uint32Array(2 * files.count);
  let row = 0;
  for (const { name } of files) {
    if (row % rowsPerTurn === 0) await breathe(signal);
    checkPackName(name);
    words.set(hashOf(key(name)), 2 * row++);
  }
  const hashes = new BigUint64Array(words.buffer).sort();
  const repeated = new Set<bigint>();
  for (let i = 1; i < hashes.length; i++) if (hashes[i] === hashes[i - 1]) repeated.add(hashes[i]!);
  if (repeated.size > 0) refuseSameKeys(files, key, repeated);
}

/** Which two texts have one hash does not matter: they are looked at. */
function hashOf(text: string): [number, number] {
  return [seededHash(text, 1), seededHash(text, 2)];
}

/** @param hashes of keys that may be the same */
function refuseSameKeys(files: SortedFiles, key: (name: string) => string, hashes: ReadonlySet<bigint>): void {
  const taken = new Map<string, string>();
  for (const { name } of files) {
    const known = key(name);
    if (!hashes.has(new BigUint64Array(Uint32Array.from(hashOf(known)).buffer)[0]!)) continue;
    const other = taken.get(known);
    if (other !== undefined) {
      throw new PakratError('E_USAGE', `${name} and ${other} would be the same name in the PAK`, {
        data: { name, other },
      });
    }
    taken.set(known, name);
  }
}

/** What no name has: a NUL, a backslash, and parts that are empty, `.` or `..`. */
const unusual = /[\\\0]|(?:^|\/)\.{0,2}(?:\/|$)/;

function checkPackName(name: string): void {
  if (!unusual.test(name)) return;
  throw new PakratError('E_USAGE', `${JSON.stringify(name)} is no relative name with / between its parts`, {
    data: { name },
  });
}
