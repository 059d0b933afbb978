import { giveBack } from './large-bytes.ts';

/** Part of its places that may be taken: more would make looking for one long. */
const fullest = 0.75;
const leastPlaces = 1024;

/** Very many hashes of 64 bits in little memory: 11 to 22 bytes each. */
export class HashSet {
  /** Two words a place, both 0 where it is free. */
  #places = new Uint32Array(2 * leastPlaces);
  #size = 0;

  /** Number of hashes. */
  get size(): number {
    return this.#size;
  }

  /** Takes a hash: two words of 32 bits. */
  add(first: number, second: number): void {
    if (this.#size >= fullest * (this.#places.length / 2)) this.#grow();
    if (put(this.#places, first, second)) this.#size += 1;
  }

  has(first: number, second: number): boolean {
    const at = placeOf(this.#places, first, second);
    return this.#places[at] !== 0 || this.#places[at + 1] !== 0;
  }

  /** Gives memory back: nobody may ask it any more. */
  close(): void {
    giveBack(this.#places);
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Uint32Array(2 * before.length);
    for (let at = 0; at < before.length; at += 2) {
      if (before[at] !== 0 || before[at + 1] !== 0) put(this.#places, before[at]!, before[at + 1]!);
    }
    giveBack(before);
  }
}

/** @returns whether it is new */
function put(places: Uint32Array, first: number, second: number): boolean {
  const at = placeOf(places, first, second);
  if (places[at] !== 0 || places[at + 1] !== 0) return false;
  places[at] = first;
  places[at + 1] = keptSecond(first, second);
  return true;
}

/** A hash of zeros is kept as another, for zeros are a free place. */
function keptSecond(first: number, second: number): number {
  return first === 0 && second === 0 ? 1 : second;
}

/** Where a hash is, or else where it belongs. */
function placeOf(places: Uint32Array, first: number, second: number): number {
  const last = places.length / 2 - 1;
  const wanted = keptSecond(first, second);
  for (let place = first & last; ; place = (place + 1) & last) {
    const at = 2 * place;
    const [a, b] = [places[at]!, places[at + 1]!];
    if ((a === first && b === wanted) || (a === 0 && b === 0)) return at;
  }
}

/**
 * Two hashes of 32 bits of a text that go their own ways, by multiplying, and are mixed at the end, so that each bit of the text changes half of theirs.
 * For tables in memory: no format has them.
 */
export function textHash(text: string): readonly [number, number] {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x9e3779b1);
    b = Math.imul(b ^ unit, 0x5f356495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return [a >>> 0, b >>> 0];
}
