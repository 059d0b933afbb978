import { dataOffset, dataSize, type EntryRecord } from './entry-record.ts';

/** The fault of an entry that cannot lie where its record says, in a file of this size; else undefined. */
export function placementProblem(record: EntryRecord, fileSize: number): string | undefined {
  const end = dataOffset(record) + dataSize(record);
  if (end > fileSize) return `its data ends at ${end}, past the end of the file`;
  if (record.method === 0 && record.storedSize !== record.size) {
    return `it is not compressed, but has ${record.storedSize} bytes for ${record.size}`;
  }
  return undefined;
}
