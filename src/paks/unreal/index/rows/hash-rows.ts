import type { EntryRecord } from '../../entries/entry-record.ts';
import { type IndexRow, NameBudget } from '../index-rows.ts';
import { PathHashTable } from '../path-hash.ts';
import type { LocatedRecords } from './located-records.ts';
import { hashAscii, hashText, noHash } from './name-hash.ts';
import { type HashData, inSharedBytes } from './shared-rows.ts';
import { StoredRows } from './stored-rows.ts';

const madeNameStart = 'hash-';
const hexDigits = 16;
const madeNameLength = madeNameStart.length + hexDigits;

const startHash = hashText(madeNameStart);

/**
 * Looks at all that can be wrong with the rows of a path-hash index.
 * @throws E_FORMAT… for damage
 */
export function findHashRows({ table, names }: Pick<HashData, 'table' | 'names'>, records: LocatedRecords): HashData {
  const budget = new NameBudget();
  const rows = new PathHashTable(table);
  for (let row = 0; row < rows.count; row++) {
    const location = rows.locationAt(row);
    records.check(location);
    budget.spend((names.size === 0 ? undefined : names.get(location)?.length) ?? madeNameLength);
  }
  return { form: 'hashes', table, names, records: records.data };
}

/** The rows of a path-hash index: most have no name but one that is made of the hash. */
export class HashRows extends StoredRows {
  readonly count: number;
  readonly #data: HashData;
  readonly #records: LocatedRecords;
  readonly #table: PathHashTable;
  readonly #digits = new Uint8Array(hexDigits);

  constructor(data: HashData, records: LocatedRecords) {
    super();
    this.#data = data;
    this.#records = records;
    this.#table = new PathHashTable(data.table);
    this.count = this.#table.count;
  }

  storedNameAt(row: number): string {
    return this.#data.names.get(this.#table.locationAt(row)) ?? hashName(this.#table.hashAt(row));
  }

  /** Hash and name of a row as a new index has them. */
  formAt(row: number): Pick<IndexRow, 'hash' | 'isListed'> {
    return { hash: this.#table.hashAt(row), isListed: this.#data.names.has(this.#table.locationAt(row)) };
  }

  /** The row that has the hash of a path, or undefined. */
  find(hash: bigint): number | undefined {
    return this.#table.find(hash);
  }

  share(): HashData {
    return { ...this.#data, table: inSharedBytes(this.#data.table), records: this.#records.share() };
  }

  protected decodeAt(row: number): EntryRecord {
    return this.#records.at(this.#table.locationAt(row));
  }

  protected hashBytesAt(row: number): number {
    const { names } = this.#data;
    if (names.size > 0 && names.has(this.#table.locationAt(row))) return noHash;
    this.#table.writeHex(row, this.#digits);
    return hashAscii(this.#digits, 0, hexDigits, startHash);
  }
}

/** Name of a row whose path is not known. */
function hashName(hash: bigint): string {
  return `${madeNameStart}${hash.toString(16).padStart(hexDigits, '0')}`;
}
