import { fromHex, toHex } from '../../core/bytes.ts';
import { GrowingRecords } from '../../core/tables/growing-records.ts';
import { KeyTable } from '../../core/tables/key-table.ts';
import { Numbered } from '../../core/tables/numbered.ts';
import type { EncodedContent } from '../encode/encode-content.ts';

const keySize = 16;

/** Encoded contents, each object once, by the number of those before it. In little memory: there may be millions. */
export class Contents {
  readonly #ekeys = new KeyTable();
  readonly #ckeys = new GrowingRecords(keySize);
  readonly #sizes: number[] = [];
  readonly #encodedSizes: number[] = [];
  readonly #especOf: number[] = [];
  readonly #especs = new Numbered<string>();

  /** How many there are. */
  get length(): number {
    return this.#ekeys.count;
  }

  /** The number of an object; −1 where it is not there. */
  numberOf(ekey: string): number {
    return this.#ekeys.numberOf(fromHex(ekey));
  }

  /** Adds an object that is not there. */
  add({ ekey, ckey, size, encodedSize, espec }: EncodedContent): void {
    this.#ekeys.add(fromHex(ekey));
    this.#ckeys.at(this.#ckeys.add()).set(fromHex(ckey));
    this.#sizes.push(size);
    this.#encodedSizes.push(encodedSize);
    this.#especOf.push(this.#especs.numberOf(espec));
  }

  at(number: number): EncodedContent | undefined {
    if (!(number >= 0 && number < this.length)) return undefined;
    return {
      ckey: toHex(this.#ckeys.at(number)),
      ekey: toHex(this.#ekeys.at(number)),
      size: this.#sizes[number]!,
      encodedSize: this.#encodedSizes[number]!,
      espec: this.#especs.at(this.#especOf[number]!),
    };
  }
}
