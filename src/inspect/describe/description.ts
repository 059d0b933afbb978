import type { PakratError } from '../../core/errors.ts';

/** A cell of a table. Keys are hex, sizes and offsets bytes. */
export type Cell = string | number | undefined;

/** The entries of an object, made when they are asked for. */
export interface RowTable {
  /** The word for rows: `entries`, `chunks`, `lines`. */
  what: string;
  columns: readonly string[];
  count: number;
  /** Rows from number `first` on, counted from 0. */
  rows(first: number): Iterable<readonly Cell[]>;
}

/** A fact about an object; a list is shown line by line. */
export type Fact = string | number | boolean | undefined | readonly string[];

/** Plain facts about an object of a format, and its entries. */
export interface Description {
  facts: Record<string, Fact>;
  table?: RowTable;
  /** Other entries of it. */
  more?: readonly RowTable[];
  /** Damage that does not keep the facts from being told. */
  problem?: PakratError;
  /** Names in hex that such an object may have on a CDN, beside the MD5 of its bytes, by what they are. */
  names?: Record<string, string>;
  /** Bytes that are wrapped in this object. Throws when they cannot be unwrapped. */
  inside?: () => Uint8Array;
}

/** Objects of which there are rows: in an array, or one after the other, as many as `count` says. */
type Items<Item> = readonly Item[] | { count: number; items: Iterable<Item> };

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

/** A table with a row for each of some objects. */
export function tableOf<Item>(
  what: string,
  columns: readonly string[],
  given: Items<Item>,
  cellsOf: (item: Item) => readonly Cell[],
): RowTable {
  const { count, items } = 'count' in given ? given : { count: given.length, items: given };
  return {
    what,
    columns,
    count,
    *rows(first) {
      let i = 0;
      for (const item of items) if (i++ >= first) yield cellsOf(item);
    },
  };
}

/** A table whose columns are fields of objects, under the names that those have. */
export function fieldTable<Field extends string>(
  what: string,
  columns: readonly Field[],
  items: Items<{ readonly [Name in Field]?: Cell }>,
): RowTable {
  return tableOf(what, columns, items, (item) => columns.map((name) => item[name]));
}

/** The number of things that can only be gone through. */
export function countOf(items: Iterable<unknown>): number {
  let count = 0;
  for (const _ of items) count += 1;
  return count;
}
