/** What a cell of a table holds. Keys are hex, sizes and offsets bytes. */
export type Cell = string | number | undefined;

/** The entries of an object, made when they are asked for. */
export interface RowTable {
  /** What one row is: `entries`, `chunks`, `lines`. */
  what: string;
  columns: readonly string[];
  count: number;
  /** Rows from number `first` on, counted from 0. */
  rows(first: number): Iterable<readonly Cell[]>;
}

/** What a format has to say of an object: plain facts, and its entries. */
export interface Description {
  facts: Record<string, Fact>;
  table?: RowTable;
  /** What such an object may be called on a CDN, beside the MD5 of its bytes: names in hex, by what they are. */
  names?: Record<string, string>;
  /** Bytes that are wrapped in this object. Throws when they cannot be unwrapped. */
  inside?: () => Uint8Array;
}

/** A fact about an object; a list is shown line by line. */
export type Fact = string | number | boolean | undefined | readonly string[];

/** A table over rows that can be asked for by number. */
export function indexedTable(
  what: string,
  columns: readonly string[],
  count: number,
  row: (i: number) => readonly Cell[],
): RowTable {
  return {
    what,
    columns,
    count,
    *rows(first) {
      for (let i = first; i < count; i++) yield row(i);
    },
  };
}

/** A table over rows that come one after the other. */
export function listedTable(
  what: string,
  columns: readonly string[],
  count: number,
  all: () => Iterable<readonly Cell[]>,
): RowTable {
  return {
    what,
    columns,
    count,
    *rows(first) {
      let i = 0;
      for (const row of all()) if (i++ >= first) yield row;
    },
  };
}
