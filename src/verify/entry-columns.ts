import type { ObjectName } from '../store/layout.ts';
import type { EntryToProve } from './entry-prover.ts';

/** Entries of one file, in the order in which they lie there, as columns: they travel to threads. */
export interface EntryColumns {
  file: string;
  /** Their keys, one behind the other: ekeys, or the first bytes of these. */
  keys: Uint8Array;
  /** Bytes of a key. */
  keySize: number;
  offsets: Float64Array;
  sizes: Float64Array;
  /** They are patches, and their keys the MD5s of their bytes. */
  raw: boolean;
}

/** All entries of an object, as the file of its index lists them; without one it is an entry itself. */
export interface ListedEntries {
  name: Pick<ObjectName, 'kind' | 'hash'>;
  file: string;
  index: string | undefined;
}

/** Entries that are to be proven together, and their bytes: those of the file where an index tells of them. */
export type EntryBatch = { size: number } & ({ columns: EntryColumns } | { listed: ListedEntries });

/** What was proven of entries: how many they are, and their bytes. */
export interface Proof {
  entries: number;
  bytes: number;
}

/** Proves batches of entries: each comes back as it turns out, with no proof where anything is not as it should be. */
export type ProveEntries = <Batch extends EntryBatch>(
  batches: Iterable<Batch>,
) => AsyncIterable<{ batch: Batch; proof: Proof | undefined }>;

/** A batch whose entries are columns. */
export type ColumnBatch = Extract<EntryBatch, { columns: EntryColumns }>;

/** Where an entry lies in a file. */
export type EntryAt = Omit<EntryToProve, 'raw'>;

/** Puts entries of a file into columns. @param entries keys are of one length */
export function entryBatch(file: string, raw: boolean, entries: readonly EntryAt[]): ColumnBatch {
  const keySize = entries[0]?.ekey.length ?? 0;
  const columns = {
    file,
    keys: new Uint8Array(entries.length * keySize),
    keySize,
    offsets: new Float64Array(entries.length),
    sizes: new Float64Array(entries.length),
    raw,
  };
  let all = 0;
  for (const [i, { ekey, offset, size }] of entries.entries()) {
    columns.keys.set(ekey, i * keySize);
    columns.offsets[i] = offset;
    columns.sizes[i] = size;
    all += size;
  }
  return { columns, size: all };
}

/** The entries of a batch. */
export function* entriesIn({ columns }: ColumnBatch): Generator<EntryToProve> {
  const { keys, keySize, offsets, sizes, raw } = columns;
  for (let i = 0; i < offsets.length; i++) {
    const ekey = keys.subarray(i * keySize, (i + 1) * keySize);
    yield { ekey, offset: offsets[i]!, size: sizes[i]!, raw };
  }
}
