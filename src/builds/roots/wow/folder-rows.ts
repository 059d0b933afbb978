import { breathe } from '../../../core/breathe.ts';
import { asBuffer } from '../../../core/bytes.ts';
import { firstNot } from '../../../core/sorting/first-not.ts';
import type { ByteWriter } from '../../../core/writer.ts';
import type { LookupFile } from '../../../store/derived/lookup-file.ts';
import type { ListfileIndex } from '../../listfile/listfile-index.ts';
import type { TextRange } from '../../listfile/name-ranges.ts';
import { firstRowFrom, idOfRow, numberOfRow, placeOfRow } from './name-order.ts';

/** How the files of a folder are told from each other. */
interface FolderChoice {
  names: ListfileIndex;
  folderOf: (name: string) => string | undefined;
  /** Whether some rows of the root, those of a file, show the folder in which that lies. */
  isShown: (rows: readonly number[]) => boolean;
}

/** Files that are looked at before the clock is. */
const filesPerTurn = 256;

/**
 * Adds the rows of an order, in some parts of the list of names, of all files that are listed by themselves, and of one file of each folder: names that begin with it
 * follow one another, so the last of them is searched for. What is read is checked. @throws E_FORMAT_CHECKSUM
 */
export async function addRowsOfFolders(
  order: LookupFile,
  ranges: readonly TextRange[],
  { names, folderOf, isShown }: FolderChoice,
  found: ByteWriter,
): Promise<void> {
  const nameAt = (row: number): Buffer => asBuffer(names.bytesAt(placeOfRow(order.at(row))));
  let files = 0;
  for (const { from, to } of ranges) {
    const end = firstRowFrom(order, to);
    for (let row = firstRowFrom(order, from); row < end; ) {
      if (files++ % filesPerTurn === 0) await breathe();
      const folder = folderOf(nameAt(row).toString());
      const next = endOfFile(order, row, end);
      const isFolder = folder !== undefined && isShown(range(row, next).map((one) => numberOfRow(order.at(one))));
      if (folder === undefined || isFolder) for (let one = row; one < next; one++) found.raw(order.at(one));
      row = next;
      if (!isFolder) continue;
      const start = Buffer.from(folder);
      row = firstNot(next, end, (one) => nameAt(one).subarray(0, start.length).equals(start));
    }
  }
}

function range(first: number, end: number): number[] {
  return Array.from({ length: end - first }, (_, i) => first + i);
}

/** The row behind those of a file. */
function endOfFile(order: LookupFile, first: number, end: number): number {
  const id = idOfRow(order.at(first));
  let row = first + 1;
  while (row < end && idOfRow(order.at(row)) === id) row += 1;
  return row;
}
