import { formatError } from '../../../core/errors.ts';
import type { ByteReader } from '../../../core/reader.ts';
import { cleanName, foldName, type NameDecoder } from '../../names.ts';
import { getRow } from '../../pak.ts';
import { type EntryRecord, emptyRecord, RecordDecoder, type RecordFormat } from '../entries/entry-record.ts';
import { readFString, skipFString } from './fstring.ts';

/** The rows of an index, by number: names with what is stored under them. */
export interface IndexRows {
  readonly count: number;
  /** Name of a row, cleaned. */
  nameAt(row: number): string;
  /** Name of a row as it is stored. */
  storedNameAt(row: number): string;
  recordAt(row: number): EntryRecord;
}

/** One row by itself. */
export interface IndexRow {
  /** As stored. */
  readonly name: string;
  readonly record: EntryRecord;
  /** Hash of the path, where that is not known. */
  readonly hash?: bigint | undefined;
  /** False for a row that only its hash finds. Default true. */
  readonly isListed?: boolean | undefined;
}

/** A decoded index, whatever its form was. */
export interface DecodedIndex {
  /** As stored. */
  mountPoint: string;
  rows: IndexRows;
  /** From version 10 on, but for a frozen one. */
  form?: IndexForm | undefined;
}

/** The form of an index of version 10 and above, for a PAK that is made out of its own. */
export interface IndexForm {
  /** The only part that it has; undefined for both. */
  readonly parts: 'hashes' | 'directory' | undefined;
  /** Directories of its directory index as stored, in their order. */
  readonly directories: readonly string[];
  /** Hash and name of a row as a new index has them. */
  rowAt(row: number): Pick<IndexRow, 'hash' | 'isListed'>;
}

/** More rows, or more characters in all names together, are taken for damage: no game comes near it. */
const maxRows = 1 << 22;
const maxNameChars = 128 << 20;

/** Counts names as they are met, so that a hostile index does not fill the memory. */
export class NameBudget {
  #names = 0;
  #chars = 0;

  /** Counts a name by its characters. Throws E_FORMAT_RANGE when they become too many: a long one costs only itself. */
  spend(length: number): void {
    this.#names += 1;
    this.#chars += length;
    if (this.#chars > maxNameChars || this.#names > maxRows) {
      throw formatError('E_FORMAT_RANGE', 'Unreal PAK index', `name ${this.#names} makes it larger than any index`);
    }
  }
}

/** Rows that are decoded one after the other. */
export class RowList implements IndexRows {
  readonly #rows: IndexRow[] = [];
  readonly #budget = new NameBudget();

  /** Throws E_FORMAT_RANGE when names become too many. */
  add(name: string, record: EntryRecord): void {
    this.#budget.spend(name.length);
    this.#rows.push({ name, record });
  }

  get count(): number {
    return this.#rows.length;
  }
  nameAt(row: number): string {
    return cleanName(this.storedNameAt(row));
  }
  storedNameAt(row: number): string {
    return getRow(this.#rows, { index: row }).name;
  }
  recordAt(row: number): EntryRecord {
    return getRow(this.#rows, { index: row }).record;
  }
}

/**
 * Rows of a name and a record each, which stay bytes until they are asked for: threads that check a PAK need no names, and
 * never most of its records.
 */
export class StoredRows implements IndexRows {
  readonly count: number;
  readonly #reader: ByteReader;
  readonly #decodeName: NameDecoder;
  readonly #decoder: RecordDecoder;
  /** Offsets of the name and of the record of each row. */
  readonly #places: Uint32Array;
  readonly #names: (string | undefined)[];
  /** Whoever asks for something of a row asks for more of it next; all of them would be a burden. */
  #lastRow = -1;
  #lastRecord = emptyRecord;

  /**
   * Finds the rows, and looks at all that can be wrong with them: then each can be decoded.
   * @param reader stands where they start, and may be used for nothing else afterwards
   * @throws E_FORMAT… for damage
   */
  constructor(reader: ByteReader, count: number, format: { record: RecordFormat; decodeName: NameDecoder }) {
    const budget = new NameBudget();
    const decoder = new RecordDecoder(reader.bytes, format.record, reader.what);
    const places = new Uint32Array(count * 2);
    for (let row = 0; row < count; row++) {
      places[row * 2] = reader.pos;
      budget.spend(skipFString(reader));
      places[row * 2 + 1] = reader.pos;
      reader.seek(decoder.endOf(reader.pos));
    }
    this.count = count;
    this.#reader = reader;
    this.#decodeName = format.decodeName;
    this.#decoder = decoder;
    this.#places = places;
    this.#names = new Array(count);
  }

  nameAt(row: number): string {
    const known = this.#names[row];
    if (known !== undefined) return known;
    const name = cleanName(this.storedNameAt(row));
    this.#names[row] = name;
    return name;
  }

  storedNameAt(row: number): string {
    this.#reader.seek(this.#places[row * 2]!);
    return readFString(this.#reader, this.#decodeName);
  }

  recordAt(row: number): EntryRecord {
    if (row !== this.#lastRow) {
      this.#lastRecord = this.#decoder.at(this.#places[row * 2 + 1]!);
      this.#lastRow = row;
    }
    return this.#lastRecord;
  }
}

/**
 * Look-up of rows by name without case. A later row of a name takes the place of an earlier one, as in the engine's table.
 * Built when it is first asked: what goes through a PAK by number needs no names.
 */
export class RowNames {
  readonly #rows: IndexRows;
  #last: Map<string, number> | undefined;
  /** By earlier rows: the one that took their place. */
  readonly #shadows = new Map<number, number>();

  constructor(rows: IndexRows) {
    this.#rows = rows;
  }

  /** Number of the row that has a name. */
  find(name: string): number | undefined {
    return this.#table().get(foldName(name));
  }

  /** Number of the row that took the place of this one, or undefined. */
  shadowOf(index: number): number | undefined {
    this.#table();
    return this.#shadows.get(index);
  }

  #table(): ReadonlyMap<string, number> {
    if (this.#last !== undefined) return this.#last;
    const last = new Map<string, number>();
    this.#last = last;
    for (let index = 0; index < this.#rows.count; index++) {
      const key = foldName(this.#rows.nameAt(index));
      const earlier = last.get(key);
      if (earlier !== undefined) this.#shadows.set(earlier, index);
      last.set(key, index);
    }
    return last;
  }
}

/** Names of a PAK are relative to its mount point, which is relative to the game's binaries: mostly `../../../Game/…`. */

/**
 * The name of a file in the whole game: mount point and name together, without what leads out of the game's folder.
 * An absolute mount point keeps its parts: `D:/Build/` becomes `D/Build/`.
 */
export function mountedName(mountPoint: string, name: string): string {
  const parts: string[] = [];
  for (const part of `${mountPoint}/${name}`.replaceAll('\\', '/').split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part.replace(/:$/, ''));
  }
  return parts.join('/');
}

/** A name as a PAK with this mount point has it, given that or the name in the whole game. Several may be meant. */
export function relativeNames(mountPoint: string, name: string): string[] {
  const plain = cleanName(name);
  const whole = mountedName('', plain);
  const prefix = mountedName(mountPoint, '');
  const isBelow = prefix !== '' && whole.toLowerCase().startsWith(`${prefix.toLowerCase()}/`);
  return isBelow ? [plain, whole.slice(prefix.length + 1)] : [plain, whole];
}
