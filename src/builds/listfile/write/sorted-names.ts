import { asBuffer } from '../../../core/bytes.ts';
import { descentsIn, mergeSort } from '../../../core/sorting/merge-sort.ts';
import { offsetAt, rowWords, sizeAt, startAt } from './listed-rows.ts';

const [slash, backslash] = [0x2f, 0x5c];

/** Names in a memory of lines, and a row of {@link ListedRows} each. */
export interface PlacedNames {
  bytes: Uint8Array;
  words: Uint32Array;
}

/** The folders of names: where the path of each lies in the memory, its bytes, and whether its names come in their order. */
export interface FoundFolders {
  starts: number[];
  sizes: number[];
  isSorted: boolean[];
}

/**
 * The numbers of names in the order of their bytes, equal ones in the order in which they are. Lists have the names of a folder in few places and mostly in
 * order: so folders are brought into order first, each with its names, and what is left to sort are few long parts. Whether the names of a folder are in order
 * is seen as they come, when those before are still in the caches.
 * @param found what {@link foldersOf} says of them
 */
export function sortedNames(names: PlacedNames, count: number, found: FoundFolders | undefined): Uint32Array {
  const compare = comparison(names);
  if (found === undefined)
    return mergeSort(
      new Uint32Array(count).map((_, i) => i),
      compare,
    );
  const { order, starts, isSorted } = byFolder(names, count, found);
  const parts: number[] = [];
  for (let i = 0; i < starts.length; i++) {
    const part = { start: starts[i]!, end: starts[i + 1] ?? count };
    if (i === 0 || compare(order[part.start - 1]!, order[part.start]!) > 0) parts.push(part.start);
    if (!isSorted[i]) for (const descent of descentsIn(order, compare, part)) parts.push(descent);
  }
  parts.push(count);
  return mergeSort(order, compare, parts);
}

/** Compares names by their bytes. */
function comparison({ bytes, words }: PlacedNames): (a: number, b: number) => number {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return (a, b) => {
    const [size, other] = [words[a * rowWords + sizeAt]!, words[b * rowWords + sizeAt]!];
    let [i, j] = [words[a * rowWords + startAt]!, words[b * rowWords + startAt]!];
    const end = i + (size < other ? size : other);
    // Names that are compared mostly begin alike.
    for (; i + 4 <= end && view.getInt32(i) === view.getInt32(j); i += 4) j += 4;
    for (; i < end; i++, j++) if (bytes[i] !== bytes[j]) return bytes[i]! - bytes[j]!;
    return size - other;
  };
}

/** The numbers of the names, folder by folder; of each folder where its names begin, and whether they are in order. */
function byFolder(
  { bytes, words }: PlacedNames,
  count: number,
  found: FoundFolders,
): { order: Uint32Array; starts: Uint32Array; isSorted: boolean[] } {
  const order = new Uint32Array(count);
  const starts = new Uint32Array(found.starts.length);
  // Of characters that are bytes the order is that of the bytes.
  const memory = asBuffer(bytes);
  const paths = found.starts.map((start, i) => memory.toString('latin1', start, start + found.sizes[i]!));
  const sorted = paths.map((_, i) => i).sort((a, b) => (paths[a]! < paths[b]! ? -1 : 1));
  const rank = new Uint32Array(paths.length);
  for (let i = 0; i < sorted.length; i++) rank[sorted[i]!] = i;
  for (let i = 0; i < count; i++) starts[rank[words[i * rowWords + offsetAt]!]!]! += 1;
  for (let i = 0, start = 0; i < starts.length; i++) {
    start += starts[i]!;
    starts[i] = start - starts[i]!;
  }
  const next = starts.slice();
  for (let i = 0; i < count; i++) {
    const folder = rank[words[i * rowWords + offsetAt]!]!;
    order[next[folder]!] = i;
    next[folder]! += 1;
  }
  return { order, starts, isSorted: sorted.map((folder) => found.isSorted[folder]!) };
}

/** Names of so many folders are not put in order by them: the folders would take the memory that the names have. */
const mostFolders = 1 << 17;

/** The folders of names that are all there; undefined where they are very many. */
export function foldersOf(names: PlacedNames, count: number): FoundFolders | undefined {
  const finder = new FolderFinder(names);
  finder.goThrough(0, count);
  return finder.found;
}

/** Finds the folders of names, as they come, and notes that of each in its row. */
export class FolderFinder {
  readonly #names: PlacedNames;
  readonly #view: DataView;
  readonly #folders: Folders;
  readonly #isSorted: boolean[] = [];
  /** The name of each folder that came last. */
  readonly #last: number[] = [];
  readonly #compare: (a: number, b: number) => number;
  /** The folder of the name before: its number, where it lies, and its bytes. */
  #number = 0;
  #start = 0;
  #size = -1;

  constructor(names: PlacedNames) {
    this.#names = names;
    this.#view = new DataView(names.bytes.buffer, names.bytes.byteOffset);
    this.#folders = new Folders(this.#view);
    this.#compare = comparison(names);
  }

  /** The folders of all names that it went through; undefined where they are very many. */
  get found(): FoundFolders | undefined {
    const { starts, sizes } = this.#folders;
    return starts.length > mostFolders ? undefined : { starts, sizes, isSorted: this.#isSorted };
  }

  /** Goes through names [from, to). */
  goThrough(from: number, to: number): void {
    const { bytes, words } = this.#names;
    const [last, isSorted] = [this.#last, this.#isSorted];
    for (let i = from; i < to && this.#folders.starts.length <= mostFolders; i++) {
      const start = words[i * rowWords + startAt]!;
      let end = start + words[i * rowWords + sizeAt]!;
      while (end > start && bytes[end - 1] !== slash && bytes[end - 1] !== backslash) end -= 1;
      // Most names have the folder of the one before.
      if (end - start !== this.#size || !isSame(this.#view, start, { other: this.#start, size: this.#size })) {
        [this.#start, this.#size] = [start, end - start];
        this.#number = this.#folders.numberOf(start, end - start);
      }
      const number = this.#number;
      words[i * rowWords + offsetAt] = number;
      if (number === last.length) isSorted.push(true);
      else if (isSorted[number] && this.#compare(last[number]!, i) > 0) isSorted[number] = false;
      last[number] = i;
    }
  }
}

/** Places for folders to be found in, a power of two: twice as many as there may be. */
const folderSlots = 4 * mostFolders;

/** Folders by their bytes: to make a text of each that is met, of hundreds of thousands, takes three times as long. */
class Folders {
  readonly starts: number[] = [];
  readonly sizes: number[] = [];
  readonly #view: DataView;
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
      if (this.sizes[number] === size && isSame(this.#view, start, { other: this.starts[number]!, size }))
        return number;
    }
    this.starts.push(start);
    this.#slots[slot] = this.sizes.push(size);
    return this.sizes.length - 1;
  }

  #hash(start: number, size: number): number {
    let hash = size;
    for (let i = 0; i < size; i++) hash = Math.imul(hash ^ this.#view.getUint8(start + i), 0x01000193);
    return hash ^ (hash >>> 15);
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
