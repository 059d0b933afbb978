import { u32At } from '../bytes.ts';
import { GrowingRecords } from './growing-records.ts';

/** Part of its places that may be taken: more would make looking for one long. */
const fullest = 0.75;
const leastPlaces = 1024;
const keySize = 16;

/**
 * Very many keys of 16 bytes in little memory, each with a number, which is how many came before it: 21 to 27 bytes each. For keys that are hashes, which
 * are spread evenly.
 */
export class KeyTable {
  readonly #keys = new GrowingRecords(keySize);
  /** One more than the number of a key; 0 where there is none. */
  #places = new Uint32Array(leastPlaces);

  /** How many there are. */
  get count(): number {
    return this.#keys.count;
  }

  /** The number of a key; −1 where it was not added. */
  numberOf(key: Uint8Array): number {
    return this.#places[this.#placeOf(key)]! - 1;
  }

  /** @returns the number of a key, which is added where it is new: then it is the count that was */
  add(key: Uint8Array): number {
    if (this.count >= fullest * this.#places.length) this.#grow();
    const place = this.#placeOf(key);
    const known = this.#places[place]! - 1;
    if (known >= 0) return known;
    const number = this.#keys.add();
    this.#keys.blockOf(number).set(key, this.#keys.offsetOf(number));
    this.#places[place] = number + 1;
    return number;
  }

  /** A view of the key of a number. */
  at(number: number): Buffer {
    return this.#keys.at(number);
  }

  /** Where a key is, or else where it belongs. */
  #placeOf(key: Uint8Array): number {
    const last = this.#places.length - 1;
    for (let place = u32At(key, 0) & last; ; place = (place + 1) & last) {
      const number = this.#places[place]! - 1;
      if (number < 0 || this.#isAt(number, key)) return place;
    }
  }

  #isAt(number: number, key: Uint8Array): boolean {
    const block = this.#keys.blockOf(number);
    const offset = this.#keys.offsetOf(number);
    for (let i = 0; i < keySize; i++) if (block[offset + i] !== key[i]) return false;
    return true;
  }

  #grow(): void {
    this.#places = new Uint32Array(2 * this.#places.length);
    const last = this.#places.length - 1;
    for (let number = 0; number < this.count; number++) {
      let place = u32At(this.#keys.blockOf(number), this.#keys.offsetOf(number)) & last;
      while (this.#places[place] !== 0) place = (place + 1) & last;
      this.#places[place] = number + 1;
    }
  }
}
