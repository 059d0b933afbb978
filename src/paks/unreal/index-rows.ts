import { formatError } from '../../core/errors.ts';
import type { EntryRecord } from './entry-record.ts';

/** One name of an index with what is stored under it. */
export interface IndexRow {
  name: string;
  record: EntryRecord;
}

/** What every form of index comes to. */
export interface DecodedIndex {
  /** As stored. */
  mountPoint: string;
  rows: IndexRow[];
}

/** More rows, or more characters in all names together, are taken for damage: no game comes near it. */
const maxRows = 1 << 22;
const maxNameChars = 128 << 20;
const maxNameLength = 4096;

/** Counts names as they are decoded, so that a hostile index does not fill the memory. */
export class NameBudget {
  #names = 0;
  #chars = 0;

  /** Throws E_FORMAT_RANGE for a name that is too long, or when they become too many. */
  spend(name: string): void {
    this.#names += 1;
    this.#chars += name.length;
    if (name.length > maxNameLength || this.#chars > maxNameChars || this.#names > maxRows) {
      throw formatError('E_FORMAT_RANGE', 'Unreal PAK index', `name ${this.#names} makes it larger than any index`);
    }
  }
}

/** Rows as they are decoded. */
export class RowList {
  readonly rows: IndexRow[] = [];
  readonly #budget = new NameBudget();

  /** Throws E_FORMAT_RANGE for a name that is too long, or when they become too many. */
  add(name: string, record: EntryRecord): void {
    this.#budget.spend(name);
    this.rows.push({ name: name.includes('\\') ? name.replaceAll('\\', '/') : name, record });
  }
}
