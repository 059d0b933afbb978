import { fromHex, isKeyAt, toHex, u32At, uintAt } from '../../core/bytes.ts';
import { KeyNumbers } from '../../core/tables/key-numbers.ts';
import { Numbered } from '../../core/tables/numbered.ts';
import { ByteWriter } from '../../core/writer.ts';
import { GrowingFile } from '../../files/growing-file.ts';
import type { EncodedContent } from '../encode/encode-content.ts';

/*
 * A row on disk: ekey [16], ckey [16], size u48, encoded size u48, number of the espec u32.
 */
const keySize = 16;
const sizeBytes = 6;
const sizeAt = 2 * keySize;
const encodedSizeAt = sizeAt + sizeBytes;
const especAt = encodedSizeAt + sizeBytes;
const rowSize = especAt + 4;

/** A content as bytes: its keys are views, good until the next one is asked for. Sizes are bytes. */
export interface ContentRow {
  ekey: Uint8Array;
  ckey: Uint8Array;
  size: number;
  encodedSize: number;
  espec: string;
}

/** Encoded contents, each object once, by the number of those before it. They are on disk, for there may be millions; in memory are 11 to 21 bytes of each. Needs `close`. */
export class Contents implements Iterable<ContentRow> {
  readonly #rows: GrowingFile;
  readonly #byCkey = new KeyNumbers();
  readonly #especs = new Numbered<string>();

  /** @param temporary folder for what is on disk @throws E_STORE_FULL, E_STORE, as all that reads or adds does */
  constructor(temporary: string) {
    this.#rows = new GrowingFile(temporary);
  }

  /** How many there are. */
  get length(): number {
    return this.#rows.size / rowSize;
  }

  /** The spec of every one that was added, each once. */
  get especs(): readonly string[] {
    return this.#especs.values;
  }

  /** The number of an object; −1 where it is not there. */
  numberOf({ ckey, ekey }: Pick<EncodedContent, 'ckey' | 'ekey'>): number {
    return this.#byCkey.find(fromHex(ckey), (number) => {
      const row = this.#row(number);
      return isKeyAt(row, keySize, ckey) && isKeyAt(row, 0, ekey);
    });
  }

  /** A content in an encoding that is one of these specs; undefined where there is none. */
  find(ckey: string, especs: readonly string[]): EncodedContent | undefined {
    const number = this.#byCkey.find(fromHex(ckey), (one) => {
      const row = this.#row(one);
      return isKeyAt(row, keySize, ckey) && especs.includes(this.#especOf(row));
    });
    return this.at(number);
  }

  /** Adds an object that is not there. */
  add({ ekey, ckey, size, encodedSize, espec }: EncodedContent): void {
    const key = fromHex(ckey);
    this.#byCkey.add(key, this.length);
    const row = new ByteWriter(rowSize).key(ekey).raw(key).uint(size, sizeBytes).uint(encodedSize, sizeBytes);
    this.#rows.append(row.u32(this.#especs.numberOf(espec)).written);
  }

  at(number: number): EncodedContent | undefined {
    if (!(number >= 0 && number < this.length)) return undefined;
    const { ekey, ckey, ...facts } = this.#decode(this.#row(number));
    return { ekey: toHex(ekey), ckey: toHex(ckey), ...facts };
  }

  /** All of them, by their numbers. None is added meanwhile. */
  *[Symbol.iterator](): Generator<ContentRow> {
    for (const piece of this.#rows.pieces(rowSize)) {
      for (let at = 0; at < piece.length; at += rowSize) yield this.#decode(piece.subarray(at, at + rowSize));
    }
  }

  /** What gives the content of a number, for those that are mostly asked for one behind the other. None is added meanwhile. */
  ahead(): (number: number) => ContentRow {
    const { read } = this.#rows.ahead();
    return (number) => this.#decode(read(number * rowSize, rowSize));
  }

  /** Forgets everything. */
  close(): void {
    this.#rows.close();
    this.#byCkey.giveBack();
  }

  #row(number: number): Uint8Array {
    return this.#rows.read(number * rowSize, rowSize);
  }

  #especOf(row: Uint8Array): string {
    return this.#especs.at(u32At(row, especAt));
  }

  #decode(row: Uint8Array): ContentRow {
    return {
      ekey: row.subarray(0, keySize),
      ckey: row.subarray(keySize, sizeAt),
      size: uintAt(row, sizeAt, sizeBytes),
      encodedSize: uintAt(row, encodedSizeAt, sizeBytes),
      espec: this.#especOf(row),
    };
  }
}
