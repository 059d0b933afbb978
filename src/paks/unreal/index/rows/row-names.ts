import { foldName } from '../../../names.ts';
import type { IndexRows } from '../index-rows.ts';
import { hashText } from './name-hash.ts';

/** Names that are looked for by going through all rows, before a table is made for the next ones. */
const fewNames = 3;
/** More steps than these to free places of a table, for each row, are no accident: names were chosen so that their hashes are the same. */
const mostSteps = 16;
/** The part of a table that is filled at most. */
const mostFilled = 3 / 4;
/** So few are quick whatever their names are. */
const fewRows = 1024;
/** The golden ratio in 32 bits: a product with it spreads what hashes differ in over its upper bits. */
const spread = 0x9e3779b1;

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

/**
 * A table of numbers alone: the last row of each name at the place that the hash of the name gives, or behind it. A word has the number
 * of the row and 1, 0 where there is none; the bits above it have some of the hash, so that few other names are looked at.
 */
class HashedNames implements NameTable {
  readonly #rows: IndexRows;
  readonly #places: Uint32Array;
  readonly #shift: number;
  readonly #numberBits: number;
  readonly #numberMask: number;
  /** By earlier rows: the one that took their place, and 1. */
  #shadows: Uint32Array | undefined;
  #steps = 0;

  private constructor(rows: IndexRows) {
    const bits = Math.max(1, Math.ceil(Math.log2((rows.count + 1) / mostFilled)));
    this.#rows = rows;
    this.#places = new Uint32Array(2 ** bits);
    this.#shift = 32 - bits;
    this.#numberBits = 32 - Math.clz32(rows.count);
    this.#numberMask = 2 ** this.#numberBits - 1;
  }

  /** Undefined for names that were chosen to make the table slow. */
  static of(rows: IndexRows): HashedNames | undefined {
    const table = new HashedNames(rows);
    for (let row = 0; row < rows.count; row++) {
      table.#add(row);
      if (table.#steps > mostSteps * (row + fewRows)) return undefined;
    }
    return table;
  }

  #add(row: number): void {
    const mixed = Math.imul(this.#rows.nameHashAt(row), spread);
    let folded: string | undefined;
    const place = this.#placeOf(mixed, (earlier) => {
      folded ??= foldName(this.#rows.nameAt(row));
      if (foldName(this.#rows.nameAt(earlier)) === folded) return true;
      this.#steps += folded.length;
      return false;
    });
    const earlier = this.#rowIn(this.#places[place]!);
    this.#places[place] = (mixed << this.#numberBits) | (row + 1);
    if (earlier === undefined) return;
    this.#shadows ??= new Uint32Array(this.#rows.count);
    this.#shadows[earlier] = row + 1;
  }

  /** The place of a name, which is taken by the row that has it or free. @param mixed of its hash */
  #placeOf(mixed: number, isName: (row: number) => boolean): number {
    const places = this.#places;
    const above = mixed << this.#numberBits;
    let place = mixed >>> this.#shift;
    for (let word = places[place]!; word !== 0; word = places[place]!) {
      const isLike = (word ^ above) >>> this.#numberBits === 0;
      if (isLike && isName(this.#rowIn(word)!)) break;
      place = (place + 1) & (places.length - 1);
      this.#steps += 1;
    }
    return place;
  }

  #rowIn(word: number): number | undefined {
    return known(word & this.#numberMask);
  }

  find(folded: string): number | undefined {
    const mixed = Math.imul(hashText(folded), spread);
    return this.#rowIn(this.#places[this.#placeOf(mixed, (row) => foldName(this.#rows.nameAt(row)) === folded)]!);
  }

  shadowOf(index: number): number | undefined {
    return known(this.#shadows?.[index]);
  }
}

function known(numberAndOne = 0): number | undefined {
  return numberAndOne === 0 ? undefined : numberAndOne - 1;
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
