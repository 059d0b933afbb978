import { asBuffer } from '../../../core/bytes.ts';
import { descentsIn, mergeSort } from '../../../core/tables/merge-sort.ts';

const [slash, backslash] = [0x2f, 0x5c];

/** Names in a memory: where each starts, and its bytes. */
export interface PlacedNames {
  bytes: Uint8Array;
  starts: Uint32Array;
  sizes: Uint16Array;
  count: number;
}

/**
 * The numbers of names in the order of their bytes, equal ones in the order in which they are. Lists have the names of a folder in few places and mostly in
 * order: so folders are brought into order first, each with its names, and what is left to sort are few long parts. Whether the names of a folder are in order
 * is seen as they come, when those before are still in the caches.
 */
export function sortedNames(names: PlacedNames): Uint32Array {
  const compare = comparison(names);
  const folders = foldersOf(names, compare);
  if (folders === undefined)
    return mergeSort(
      Uint32Array.from(names.starts.subarray(0, names.count), (_, i) => i),
      compare,
    );
  const { order, starts, isSorted } = byFolder(folders, names.count);
  const parts: number[] = [];
  for (let i = 0; i < starts.length; i++) {
    const part = { start: starts[i]!, end: starts[i + 1] ?? names.count };
    if (i === 0 || compare(order[part.start - 1]!, order[part.start]!) > 0) parts.push(part.start);
    if (!isSorted[i]) for (const descent of descentsIn(order, compare, part)) parts.push(descent);
  }
  parts.push(names.count);
  return mergeSort(order, compare, parts);
}

/** Compares names by their bytes. */
function comparison({ bytes, starts, sizes }: PlacedNames): (a: number, b: number) => number {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return (a, b) => {
    const difference = sizes[a]! - sizes[b]!;
    let [i, j] = [starts[a]!, starts[b]!];
    const end = i + (difference < 0 ? sizes[a]! : sizes[b]!);
    // Names that are compared mostly begin alike.
    for (; i + 4 <= end && view.getInt32(i) === view.getInt32(j); i += 4) j += 4;
    for (; i < end; i++, j++) if (bytes[i] !== bytes[j]) return bytes[i]! - bytes[j]!;
    return difference;
  };
}

/** Names of so many folders are not put in order by them: the folders would take the memory that the names have. */
const mostFolders = 1 << 17;

interface NamesOfFolders {
  /** The number of the folder of each name. */
  numbers: Uint32Array;
  paths: string[];
  /** Of each folder: its names come in their order. */
  isSorted: boolean[];
}

/** The numbers of the names, folder by folder; of each folder where its names begin, and whether they are in order. */
function byFolder(
  { numbers, paths, isSorted }: NamesOfFolders,
  count: number,
): { order: Uint32Array; starts: Uint32Array; isSorted: boolean[] } {
  const order = new Uint32Array(count);
  const starts = new Uint32Array(paths.length);
  // Of characters that are bytes the order is that of the bytes.
  const sorted = paths.map((_, i) => i).sort((a, b) => (paths[a]! < paths[b]! ? -1 : 1));
  const rank = new Uint32Array(paths.length);
  for (let i = 0; i < sorted.length; i++) rank[sorted[i]!] = i;
  for (let i = 0; i < count; i++) starts[rank[numbers[i]!]!]! += 1;
  for (let i = 0, start = 0; i < starts.length; i++) {
    start += starts[i]!;
    starts[i] = start - starts[i]!;
  }
  const next = starts.slice();
  for (let i = 0; i < count; i++) {
    const folder = rank[numbers[i]!]!;
    order[next[folder]!] = i;
    next[folder]! += 1;
  }
  return { order, starts, isSorted: sorted.map((folder) => isSorted[folder]!) };
}

/** The folders of names; undefined where there are very many. */
function foldersOf(
  { bytes, starts, sizes, count }: PlacedNames,
  compare: (a: number, b: number) => number,
): NamesOfFolders | undefined {
  const numbers = new Uint32Array(count);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const folders = new Folders(view);
  const isSorted: boolean[] = [];
  /** The name of each folder that came last. */
  const last: number[] = [];
  let [number, folder, size] = [0, 0, -1];
  for (let i = 0; i < count; i++) {
    const start = starts[i]!;
    let end = start + sizes[i]!;
    while (end > start && bytes[end - 1] !== slash && bytes[end - 1] !== backslash) end -= 1;
    // Most names have the folder of the one before.
    if (end - start !== size || !isSame(view, start, { other: folder, size })) {
      [folder, size] = [start, end - start];
      number = folders.numberOf(folder, size);
      if (folders.count > mostFolders) return undefined;
    }
    numbers[i] = number;
    if (number === last.length) isSorted.push(true);
    else if (isSorted[number] && compare(last[number]!, i) > 0) isSorted[number] = false;
    last[number] = i;
  }
  return { numbers, paths: folders.paths(asBuffer(bytes)), isSorted };
}

/** Places for folders to be found in, a power of two: twice as many as there may be. */
const folderSlots = 4 * mostFolders;

/** Folders by their bytes: to make a text of each that is met, of hundreds of thousands, takes three times as long. */
class Folders {
  count = 0;
  readonly #view: DataView;
  readonly #starts: number[] = [];
  readonly #sizes: number[] = [];
  /** The number of the folder in each place, plus one. */
  readonly #slots = new Uint32Array(folderSlots);

  constructor(view: DataView) {
    this.#view = view;
  }

  /** The number of a folder, a new one where it was not met. */
  numberOf(start: number, size: number): number {
    let slot = this.#hash(start, size) & (folderSlots - 1);
    for (; this.#slots[slot] !== 0; slot = (slot + 1) & (folderSlots - 1)) {
      const number = this.#slots[slot]! - 1;
      if (this.#sizes[number] === size && isSame(this.#view, start, { other: this.#starts[number]!, size }))
        return number;
    }
    this.#starts.push(start);
    this.#sizes.push(size);
    this.count += 1;
    this.#slots[slot] = this.count;
    return this.count - 1;
  }

  #hash(start: number, size: number): number {
    let hash = size;
    for (let i = 0; i < size; i++) hash = Math.imul(hash ^ this.#view.getUint8(start + i), 0x01000193);
    return hash ^ (hash >>> 15);
  }

  paths(bytes: Buffer): string[] {
    return this.#starts.map((start, i) => bytes.toString('latin1', start, start + this.#sizes[i]!));
  }
}

/** Four bytes at a time, the last of them a second time where they are no more than three. */
function isSame(view: DataView, start: number, { other, size }: { other: number; size: number }): boolean {
  if (size < 4) {
    for (let i = 0; i < size; i++) if (view.getUint8(start + i) !== view.getUint8(other + i)) return false;
    return true;
  }
  for (let i = 0; i < size; i += 4) {
    const at = Math.min(i, size - 4);
    if (view.getInt32(start + at) !== view.getInt32(other + at)) return false;
  }
  return true;
}
