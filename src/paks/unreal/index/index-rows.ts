import { formatError } from '../../../core/errors.ts';
import { cleanName, foldName } from '../../names.ts';
import { getRow } from '../../pak.ts';
import type { EntryRecord } from '../entries/entry-record.ts';
import { hashText } from './rows/name-hash.ts';
import type { SharedRows } from './rows/shared-rows.ts';

/** The rows of an index, by number: names with what is stored under them. */
export interface IndexRows {
  readonly count: number;
  /** Name of a row, cleaned. */
  nameAt(row: number): string;
  /** Name of a row as it is stored. */
  storedNameAt(row: number): string;
  /** Hash of the folded name of a row (name-hash.ts). */
  nameHashAt(row: number): number;
  recordAt(row: number): EntryRecord;
  /** The rows as plain data in shared memory. Absent where they are no bytes. */
  share?(): SharedRows;
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
  directories(): readonly string[];
  /** Hash and name of a row as a new index has them. */
  rowAt(row: number): Pick<IndexRow, 'hash' | 'isListed'>;
}

/** More rows, or more characters in all names together, are taken for damage: no game comes near it. */
const maxRows = 1 << 22;
const maxNameChars = 1 << 29;
/** The same of names that are kept in memory. */
export const maxKeptChars = 128 << 20;

/** Counts names as they are met, so that a hostile index does not fill the memory. */
export class NameBudget {
  readonly #mostChars: number;
  #names = 0;
  #chars = 0;

  constructor(mostChars = maxNameChars) {
    this.#mostChars = mostChars;
  }

  /** Counts a name by its characters. Throws E_FORMAT_RANGE when they become too many: a long one costs only itself. */
  spend(length: number): void {
    this.#names += 1;
    this.#chars += length;
    if (this.#chars > this.#mostChars || this.#names > maxRows) {
      throw formatError('E_FORMAT_RANGE', 'Unreal PAK index', `name ${this.#names} makes it larger than any index`);
    }
  }
}

/** Rows that are decoded one after the other: of forms that no game was seen to have. */
export class RowList implements IndexRows {
  readonly #rows: IndexRow[] = [];
  readonly #budget = new NameBudget(maxKeptChars);

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
  nameHashAt(row: number): number {
    return hashText(foldName(this.nameAt(row)));
  }
  recordAt(row: number): EntryRecord {
    return getRow(this.#rows, { index: row }).record;
  }
}

/** Names of a PAK are relative to its mount point, which is relative to the game's binaries: mostly `../../../Game/…`. */

/** What a name has that is not whole as it stands: empty parts, `.` and `..`, back-slashes, the colon of a drive. */
const odd = /[\\:]|(?:^|\/)\.{0,2}(?:\/|$)/;

/**
 * The name of a file in the whole game: mount point and name together, without what leads out of the game's folder.
 * An absolute mount point keeps its parts: `D:/Build/` becomes `D/Build/`.
 */
export function mountedName(mountPoint: string, name: string): string {
  return mountedNames(mountPoint)(name);
}

/** As {@link mountedName}, for many names. */
export function mountedNames(mountPoint: string): (name: string) => string {
  const folder = resolveParts(mountPoint);
  const before = folder === '' ? '' : `${folder}/`;
  return (name) => (odd.test(name) ? resolveParts(`${mountPoint}/${name}`) : before + name);
}

function resolveParts(path: string): string {
  const parts: string[] = [];
  for (const part of path.replaceAll('\\', '/').split('/')) {
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
