import { foldName } from '../../../names.ts';
import { RowTable } from '../../../row-table.ts';
import type { IndexRows } from '../index-rows.ts';
import { hashText } from './name-hash.ts';

/** Names that are looked for by going through all rows, before a table is made for the next ones. */
const fewNames = 3;
/** More steps than these to free places of a table, for each row, are no accident: names were chosen so that their hashes are the same. */
const mostSteps = 16;
/** So few are quick whatever their names are. */
const fewRows = 1024;

/**
 * Look-up of rows by name without case. A later row of a name takes the place of an earlier one, as in the engine's table.
 * Rows are told apart by hashes of their names: what goes through a PAK by number, or asks for one name, makes no strings.
 */
export class RowNames {
  readonly #rows: IndexRows;
  #asked = 0;
  #table: NameTable | undefined;

  constructor(rows: IndexRows) {
    this.#rows = rows;
  }

  /** Number of the row that has a name. */
  find(name: string): number | undefined {
    const folded = foldName(name);
    return this.#asksFew() ? this.#last(folded) : this.#tabled().find(folded);
  }

  /** Number of the row that took the place of this one, or undefined. */
  shadowOf(index: number): number | undefined {
    return this.#asksFew() ? this.#nextLike(index) : this.#tabled().shadowOf(index);
  }

  #asksFew(): boolean {
    return this.#table === undefined && ++this.#asked <= fewNames;
  }

  #last(folded: string): number | undefined {
    const rows = this.#rows;
    const hash = hashText(folded);
    for (let row = rows.count - 1; row >= 0; row--) {
      if (rows.nameHashAt(row) === hash && foldName(rows.nameAt(row)) === folded) return row;
    }
    return undefined;
  }

  #nextLike(index: number): number | undefined {
    const rows = this.#rows;
    const hash = rows.nameHashAt(index);
    const folded = foldName(rows.nameAt(index));
    for (let row = index + 1; row < rows.count; row++) {
      if (rows.nameHashAt(row) === hash && foldName(rows.nameAt(row)) === folded) return row;
    }
    return undefined;
  }

  #tabled(): NameTable {
    this.#table ??= HashedNames.of(this.#rows) ?? new MappedNames(this.#rows);
    return this.#table;
  }
}

interface NameTable {
  find(folded: string): number | undefined;
  shadowOf(index: number): number | undefined;
}

/** A table of numbers alone: it has the last row of each name. */
class HashedNames implements NameTable {
  readonly #rows: IndexRows;
  readonly #table: RowTable;
  /** By earlier rows: the one that took their place, and 1. */
  #shadows: Uint32Array | undefined;
  /** Characters of names that were compared for nothing. */
  #compared = 0;

  private constructor(rows: IndexRows) {
    this.#rows = rows;
    this.#table = new RowTable(rows.count);
  }

  /** Undefined for names that were chosen to make the table slow. */
  static of(rows: IndexRows): HashedNames | undefined {
    const names = new HashedNames(rows);
    for (let row = 0; row < rows.count; row++) {
      names.#add(row);
      if (names.#table.steps + names.#compared > mostSteps * (row + fewRows)) return undefined;
    }
    return names;
  }

  #add(row: number): void {
    let folded: string | undefined;
    const earlier = this.#table.put(this.#rows.nameHashAt(row), row, (other) => {
      folded ??= foldName(this.#rows.nameAt(row));
      if (foldName(this.#rows.nameAt(other)) === folded) return true;
      this.#compared += folded.length;
      return false;
    });
    if (earlier === undefined) return;
    this.#shadows ??= new Uint32Array(this.#rows.count);
    this.#shadows[earlier] = row + 1;
  }

  find(folded: string): number | undefined {
    return this.#table.find(hashText(folded), (row) => foldName(this.#rows.nameAt(row)) === folded);
  }

  shadowOf(index: number): number | undefined {
    const shadow = this.#shadows?.[index] ?? 0;
    return shadow === 0 ? undefined : shadow - 1;
  }
}

/** A table of the names themselves, whose hashes nobody outside can know. */
class MappedNames implements NameTable {
  readonly #last = new Map<string, number>();
  readonly #shadows = new Map<number, number>();

  constructor(rows: IndexRows) {
    for (let index = 0; index < rows.count; index++) {
      const key = foldName(rows.nameAt(index));
      const earlier = this.#last.get(key);
      if (earlier !== undefined) this.#shadows.set(earlier, index);
      this.#last.set(key, index);
    }
  }

  find(folded: string): number | undefined {
    return this.#last.get(folded);
  }

  shadowOf(index: number): number | undefined {
    return this.#shadows.get(index);
  }
}
