import { ByteWriter } from '../../../core/writer.ts';
import { type EntryRecord, RecordDecoder, type RecordFormat, writeEntryRecord } from '../entries/entry-record.ts';
import type { IndexRow } from '../index/index-rows.ts';

/** The rows of a PAK that is written, until its index is. Their records stay bytes: there may be a million. */
export class WrittenRows implements Iterable<IndexRow> {
  readonly #format: RecordFormat;
  readonly #names: string[] = [];
  readonly #records = new ByteWriter();
  readonly #starts: number[] = [];

  constructor(format: RecordFormat) {
    this.#format = format;
  }

  get length(): number {
    return this.#names.length;
  }

  add(name: string, record: EntryRecord): void {
    this.#names.push(name);
    this.#starts.push(this.#records.size);
    writeEntryRecord(this.#records, record, this.#format);
  }

  at(row: number): IndexRow | undefined {
    const name = this.#names[row];
    return name === undefined ? undefined : this.#rowOf(name, row, this.#decoder());
  }

  *[Symbol.iterator](): Generator<IndexRow> {
    const decoder = this.#decoder();
    for (const [row, name] of this.#names.entries()) yield this.#rowOf(name, row, decoder);
  }

  #decoder(): RecordDecoder {
    return new RecordDecoder(this.#records.written, this.#format, 'written rows');
  }

  #rowOf(name: string, row: number, decoder: RecordDecoder): IndexRow {
    // An index is free to have another form of it.
    return { name, record: { ...decoder.at(this.#starts[row]!), recordOffset: -1 } };
  }
}
