import { asBuffer } from '../../core/bytes.ts';
import { mergeSort } from '../../core/tables/merge-sort.ts';

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
 * order: so folders are brought into order first, each with its names, and what is left to sort are few long parts.
 */
export function sortedNames(names: PlacedNames): Uint32Array {
  const { bytes, starts, sizes } = names;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return mergeSort(byFolder(names), (a, b) => {
    const difference = sizes[a]! - sizes[b]!;
    let [i, j] = [starts[a]!, starts[b]!];
    const end = i + (difference < 0 ? sizes[a]! : sizes[b]!);
    // Names that are compared mostly begin alike.
    for (; i + 4 <= end && view.getInt32(i) === view.getInt32(j); i += 4) j += 4;
    for (; i < end; i++, j++) if (bytes[i] !== bytes[j]) return bytes[i]! - bytes[j]!;
    return difference;
  });
}

/** Names of so many folders are not put in order by them: the folders would take the memory that the names have. */
const mostFolders = 1 << 17;

/** The numbers of the names, folder by folder. */
function byFolder(names: PlacedNames): Uint32Array {
  const order = new Uint32Array(names.count);
  const folders = foldersOf(names);
  if (folders === undefined) return order.map((_, i) => i);
  const { numbers, paths } = folders;
  const next = new Uint32Array(paths.length + 1);
  // Of characters that are bytes the order is that of the bytes.
  const sorted = paths.map((_, i) => i).sort((a, b) => (paths[a]! < paths[b]! ? -1 : 1));
  const rank = new Uint32Array(paths.length);
  for (let i = 0; i < sorted.length; i++) rank[sorted[i]!] = i;
  for (let i = 0; i < names.count; i++) next[rank[numbers[i]!]! + 1]! += 1;
  for (let i = 1; i < next.length; i++) next[i]! += next[i - 1]!;
  for (let i = 0; i < names.count; i++) {
    const folder = rank[numbers[i]!]!;
    order[next[folder]!] = i;
    next[folder]! += 1;
  }
  return order;
}

/** The number of the folder of each name, and the paths of the folders; undefined where there are very many. */
function foldersOf({
  bytes,
  starts,
  sizes,
  count,
}: PlacedNames): { numbers: Uint32Array; paths: string[] } | undefined {
  const numbers = new Uint32Array(count);
  const paths: string[] = [];
  const numberOf = new Map<string, number>();
  const buffer = asBuffer(bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  let [number, folder, size] = [0, 0, -1];
  for (let i = 0; i < count; i++) {
    const start = starts[i]!;
    let end = start + sizes[i]!;
    while (end > start && bytes[end - 1] !== slash && bytes[end - 1] !== backslash) end -= 1;
    // Most names have the folder of the one before.
    if (end - start !== size || !isSame(view, start, { other: folder, size })) {
      [folder, size] = [start, end - start];
      const path = buffer.toString('latin1', start, end);
      number = numberOf.get(path) ?? paths.push(path) - 1;
      if (paths.length > mostFolders) return undefined;
      numberOf.set(path, number);
    }
    numbers[i] = number;
  }
  return { numbers, paths };
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
