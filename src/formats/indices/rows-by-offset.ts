import { uintAt } from '../../core/bytes.ts';
import { orderOf } from '../../core/sorting/merge-sort.ts';
import { sortNumbers } from '../../core/sorting/sort-numbers.ts';
import { giveBack, largeWords } from '../../core/tables/large-bytes.ts';
import type { ArchiveIndex, IndexEntry } from './archive-index.ts';
import { entryOffset } from './seal-index.ts';

/** Of memory that is smaller the collection of garbage is soon enough. */
const largeBytesLeast = 1 << 20;

/**
 * The numbers of the records of an archive's index in the order in which their entries lie in the archive, those of one offset in the order of their keys.
 * An archive of tiny files has two millions: four bytes each, where an object for each would be two hundred.
 */
export function rowsByOffset({ bytes, layout, count }: ArchiveIndex): Uint32Array {
  const { keyBytes, sizeBytes, offsetBytes } = layout;
  // In a group the number of the archive stands before it.
  const size = offsetBytes === 6 ? 4 : offsetBytes;
  const offsetOf = (row: number): number =>
    uintAt(bytes, entryOffset(row, layout) + keyBytes + sizeBytes + offsetBytes - size, size);
  if (size > Uint32Array.BYTES_PER_ELEMENT) return orderOf(count, (a, b) => offsetOf(a) - offsetOf(b));
  const offsets = largeWords(count);
  for (let row = 0; row < count; row++) offsets[row] = offsetOf(row);
  const memory = largeWords(3 * count);
  const rows = largeWords(count);
  rows.set(sortNumbers(offsets, memory));
  if (memory.byteLength >= largeBytesLeast) giveBack(offsets, memory);
  return rows;
}

/** The records of an archive's index in the order of {@link rowsByOffset}, one at a time: as objects all of them would be ten times their bytes. */
export function* entriesByOffset(index: ArchiveIndex, rows = rowsByOffset(index)): Generator<IndexEntry> {
  for (const row of rows) yield index.entry(row);
}
