import { u32At, writeU32 } from '../../core/bytes.ts';
import { compareNames } from '../../core/names/name-order.ts';
import { type SortedTexts, sortedInSystemFolder } from '../../files/sorted/sorted-texts.ts';
import type { Source, SourceEntry } from '../source.ts';

/** Rows that are kept in memory. */
const fewRows = 65_536;
/** Rows that are given at a time. */
const rowsOfBatch = 1024;

/** Rows of a source in the order of their names. Of many that it gives by their numbers, names and numbers alone are kept, on disk. Needs `close`; adding and reading throw E_STORE… */
export class SortedRows {
  readonly #rowAt: Source['rowAt'];
  readonly #few: SourceEntry[] = [];
  #many: SortedTexts | undefined;
  readonly #beside = new Uint8Array(4);

  constructor({ rowAt }: Source) {
    this.#rowAt = rowAt;
  }

  add(row: SourceEntry): void {
    if (this.#many !== undefined) {
      this.#put(this.#many, row);
      return;
    }
    this.#few.push(row);
    if (this.#few.length <= fewRows || this.#rowAt === undefined) return;
    this.#many = sortedInSystemFolder();
    for (const known of this.#few.splice(0)) this.#put(this.#many, known);
  }

  #put(texts: SortedTexts, { name, index }: SourceEntry): void {
    if (index === undefined) throw new Error(`a row without a number: ${name}`);
    writeU32(this.#beside, 0, index);
    texts.add(name, this.#beside);
  }

  *batches(): Generator<readonly SourceEntry[]> {
    const [many, rowAt] = [this.#many, this.#rowAt];
    if (many === undefined || rowAt === undefined) {
      yield this.#few.sort((a, b) => compareNames(a.name, b.name));
      return;
    }
    let batch: SourceEntry[] = [];
    for (const { beside } of many.rows()) {
      if (batch.push(rowAt(u32At(beside, 0))) < rowsOfBatch) continue;
      yield batch;
      batch = [];
    }
    yield batch;
  }

  close(): void {
    this.#many?.close();
  }
}
