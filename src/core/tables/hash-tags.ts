import { giveBack } from './large-bytes.ts';

/** Part of its places that may be taken: more would make looking for one long. */
const fullest = 0.75;
const leastPlaces = 1024;

/** Very many hashes of 64 bits, each with a number of 32 bits, in little memory: 11 to 22 bytes each, and half as many more once a number is not 0. */
export class HashTags {
  /** Two words a place, both 0 where it is free. */
  #places = new Uint32Array(2 * leastPlaces);
  /** One word a place; undefined while all are 0. */
  #tags: Uint32Array | undefined;
  #size = 0;

  /** Takes a hash that is not there, two words of 32 bits, and its number. */
  add(first: number, second: number, tag: number): void {
    if (this.#size >= fullest * (this.#places.length / 2)) this.#grow();
    if (tag !== 0) this.#tags ??= new Uint32Array(this.#places.length / 2);
    this.#put(first, second, tag);
    this.#size += 1;
  }

  /** The number of a hash, or undefined where it is not there. */
  tagOf(first: number, second: number): number | undefined {
    const place = placeOf(this.#places, first, second);
    return isFree(this.#places, place) ? undefined : (this.#tags?.[place] ?? 0);
  }

  /** Gives memory back: nobody may ask it any more. */
  close(): void {
    giveBack(...tables(this.#places, this.#tags));
  }

  #grow(): void {
    const [places, tags] = [this.#places, this.#tags];
    this.#places = new Uint32Array(2 * places.length);
    if (tags !== undefined) this.#tags = new Uint32Array(2 * tags.length);
    for (let place = 0; place < places.length / 2; place++) {
      if (!isFree(places, place)) this.#put(places[2 * place]!, places[2 * place + 1]!, tags?.[place] ?? 0);
    }
    giveBack(...tables(places, tags));
  }

  #put(first: number, second: number, tag: number): void {
    const place = placeOf(this.#places, first, second);
    this.#places[2 * place] = first;
    this.#places[2 * place + 1] = keptSecond(first, second);
    if (this.#tags !== undefined) this.#tags[place] = tag;
  }
}

function tables(places: Uint32Array, tags: Uint32Array | undefined): Uint32Array[] {
  return tags === undefined ? [places] : [places, tags];
}

function isFree(places: Uint32Array, place: number): boolean {
  return places[2 * place] === 0 && places[2 * place + 1] === 0;
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
    if (isFree(places, place)) return place;
    if (places[2 * place] === first && places[2 * place + 1] === wanted) return place;
  }
}
