import { cleanName, foldName } from '../../../names.ts';
import { type EntryRecord, emptyRecord } from '../../entries/entry-record.ts';
import type { IndexRows } from '../index-rows.ts';
import { hashText, noHash } from './name-hash.ts';
import type { SharedRows } from './shared-rows.ts';

/**
 * Rows that stay bytes until they are asked for: threads that check a PAK need no names, and never most of its records. Whoever
 * makes them has looked at all that can be wrong with them: each can be decoded.
 */
export abstract class StoredRows implements IndexRows {
  abstract readonly count: number;
  // Whoever asks for something of a row asks for more of it next; all of them would be a burden.
  #lastNamed = -1;
  #lastName = '';
  #lastRow = -1;
  #lastRecord = emptyRecord;

  abstract storedNameAt(row: number): string;
  abstract share(): SharedRows;
  protected abstract decodeAt(row: number): EntryRecord;
  /** Hash of the name of a row by its bytes; `noHash` where they do not tell it. */
  protected abstract hashBytesAt(row: number): number;

  nameAt(row: number): string {
    if (row !== this.#lastNamed) {
      this.#lastName = cleanName(this.storedNameAt(row));
      this.#lastNamed = row;
    }
    return this.#lastName;
  }

  nameHashAt(row: number): number {
    const hash = this.hashBytesAt(row);
    return hash === noHash ? hashText(foldName(this.nameAt(row))) : hash;
  }

  recordAt(row: number): EntryRecord {
    if (row !== this.#lastRow) {
      this.#lastRecord = this.decodeAt(row);
      this.#lastRow = row;
    }
    return this.#lastRecord;
  }
}
