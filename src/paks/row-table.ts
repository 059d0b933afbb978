/** The part of its places that is taken at most. */
const mostFilled = 3 / 4;
/** The golden ratio in 32 bits: a product with it spreads what hashes differ in over its upper bits. */
const spread = 0x9e3779b1;

/**
 * Numbers of rows by a hash of what they are told apart by: each at the place that the hash gives, or behind it. A word has the number of the row
 * and 1, 0 where there is none; the bits above it have some of the hash, so that few other rows are looked at. 5 to 11 bytes a row.
 */
export class RowTable {
  readonly #places: Uint32Array;
  readonly #shift: number;
  readonly #numberBits: number;
  readonly #numberMask: number;
  #steps = 0;

  /** @param count of rows, at most: each number is smaller */
  constructor(count: number) {
    const bits = Math.max(1, Math.ceil(Math.log2((count + 1) / mostFilled)));
    this.#places = new Uint32Array(2 ** bits);
    this.#shift = 32 - bits;
    this.#numberBits = 32 - Math.clz32(count);
    this.#numberMask = 2 ** this.#numberBits - 1;
  }

  /** Taken places that were passed over so far: many for each row are no accident, where others know the hash. */
  get steps(): number {
    return this.#steps;
  }

  /** The row of a hash that is the one, or undefined. */
  find(hash: number, isOne: (row: number) => boolean): number | undefined {
    return this.#rowIn(this.#places[this.#placeOf(hash, isOne)]!);
  }

  /** Puts a row in the place of the one that is the same. @returns that one, or undefined */
  put(hash: number, row: number, isSame: (row: number) => boolean): number | undefined {
    const place = this.#placeOf(hash, isSame);
    const before = this.#rowIn(this.#places[place]!);
    this.#places[place] = this.#wordOf(hash, row);
    return before;
  }

  /** Puts a row where there is none that is the same. */
  putFirst(hash: number, row: number, isSame: (row: number) => boolean): void {
    const place = this.#placeOf(hash, isSame);
    if (this.#places[place] === 0) this.#places[place] = this.#wordOf(hash, row);
  }

  #wordOf(hash: number, row: number): number {
    return (Math.imul(hash, spread) << this.#numberBits) | (row + 1);
  }

  /** The place that is taken by the one, or free. */
  #placeOf(hash: number, isOne: (row: number) => boolean): number {
    const places = this.#places;
    const mixed = Math.imul(hash, spread);
    const above = mixed << this.#numberBits;
    let place = mixed >>> this.#shift;
    for (let word = places[place]!; word !== 0; word = places[place]!) {
      const isLike = (word ^ above) >>> this.#numberBits === 0;
      if (isLike && isOne((word & this.#numberMask) - 1)) break;
      place = (place + 1) & (places.length - 1);
      this.#steps += 1;
    }
    return place;
  }

  #rowIn(word: number): number | undefined {
    return word === 0 ? undefined : (word & this.#numberMask) - 1;
  }
}
