import { repeatable } from '../reader.ts';
import type { RecordTable } from './record-table.ts';

/** Records that become objects one at a time, when they are asked for. */
export interface EntryTable<Entry> {
  readonly count: number;
  /** The records as bytes. */
  readonly rows: RecordTable;
  /** Entry `i`, 0 to `count` − 1. */
  entry(i: number): Entry;
  /** Every entry, in order. */
  readonly entries: Iterable<Entry>;
}

/** A table of entries over records that stay bytes. */
export function entryTable<Entry>(rows: RecordTable, decode: (row: Uint8Array) => Entry): EntryTable<Entry> {
  return {
    count: rows.count,
    rows,
    entry: (i) => decode(rows.at(i)),
    entries: repeatable(function* () {
      for (let i = 0; i < rows.count; i++) yield decode(rows.at(i));
    }),
  };
}
