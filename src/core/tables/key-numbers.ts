import { u32At } from '../bytes.ts';
import { giveBack, largeWords } from './large-bytes.ts';

/** Part of its places that may be taken: more would make looking for one long. */
const fullest = 0.75;
const leastBits = 10;

/**
 * Very many numbers, each by a key of which only four bytes are kept: 11 to 21 bytes each. For keys that are hashes and lie elsewhere, where those that are alike
 * so far can be told apart. Several numbers may have one key.
 */
export class KeyNumbers {
  #bits = leastBits;
  /** Of each place four bytes of a key, and one more than its number; 0 where there is none. */
  #words = new Uint32Array(2 ** leastBits);
  #numbers = new Uint32Array(2 ** leastBits);
  #count = 0;

  /** The first number of a key; −1 where there is none. @param has whether a number is one that is looked for: asked of those whose keys begin like this */
  find(key: Uint8Array, has: (number: number) => boolean): number {
    const word = u32At(key, 0);
    const last = this.#numbers.length - 1;
    for (let place = this.#firstPlace(word); ; place = (place + 1) & last) {
      const number = this.#numbers[place]! - 1;
      if (number < 0 || (this.#words[place] === word && has(number))) return number;
    }
  }

  add(key: Uint8Array, number: number): void {
    if (this.#count >= fullest * this.#numbers.length) this.#grow();
    this.#count += 1;
    this.#put(u32At(key, 0), number + 1);
  }

  /** Forgets everything, and gives its memory back to the system. */
  giveBack(): void {
    giveBack(this.#words, this.#numbers);
    this.#bits = leastBits;
    [this.#words, this.#numbers] = [new Uint32Array(2 ** leastBits), new Uint32Array(2 ** leastBits)];
    this.#count = 0;
  }

  #put(word: number, value: number): void {
    const last = this.#numbers.length - 1;
    let place = this.#firstPlace(word);
    while (this.#numbers[place] !== 0) place = (place + 1) & last;
    this.#words[place] = word;
    this.#numbers[place] = value;
  }

  #firstPlace(word: number): number {
    return word >>> (32 - this.#bits);
  }

  #grow(): void {
    const [words, numbers] = [this.#words, this.#numbers];
    this.#bits += 1;
    this.#words = largeWords(2 ** this.#bits);
    this.#numbers = largeWords(2 ** this.#bits);
    for (let place = 0; place < numbers.length; place++)
      if (numbers[place] !== 0) this.#put(words[place]!, numbers[place]!);
    giveBack(words, numbers);
  }
}
