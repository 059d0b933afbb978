import { dataOffset, dataSize, type EntryRecord } from './entry-record.ts';

/** What is wrong with where an entry lies in a file of this size, or undefined. */
export function placementProblem(record: EntryRecord, fileSize: number): string | undefined {
  const end = dataOffset(record) + dataSize(record);
  if (end > fileSize) return `its data ends at ${end}, past the end of the file`;
  if (record.method === 0 && record.storedSize !== record.size) {
    return `it is not compressed, but has ${record.storedSize} bytes for ${record.size}`;
  }
  return undefined;
}
