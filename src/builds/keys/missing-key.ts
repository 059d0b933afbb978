/** A key that a source needs and does not have, and what it locks. */
export interface MissingKey {
  /** As key lists print it; of a PAK the GUID of its key, or the name of the pack. */
  key: string;
  /** Files that cannot be read without it; null when the names are locked, too. A file that needs several keys counts for each. */
  files: number | null;
  /** Decoded bytes of these files. */
  bytes: number | null;
  /** Some of their names. */
  names: string[];
  /** Encoded objects of a build that it locks, in all locales, files or not; and their encoded bytes. */
  entries?: number;
  encodedBytes?: number;
  /** Of a PAK in a folder: which. */
  origin?: string;
}

const namesPerKey = 10;

/** Counts a file for a key. */
export function addFile(row: MissingKey, name: string, size: number): void {
  row.files = (row.files ?? 0) + 1;
  row.bytes = (row.bytes ?? 0) + size;
  if (row.names.length < namesPerKey) row.names.push(name);
}
