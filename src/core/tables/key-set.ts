const keySize = 16;
/** Chosen anew by each process: nobody can make keys that all fall together. */
const seed = Math.floor(Math.random() * 0x1_0000_0000);

/**
 * Keys of 16 bytes, each once, numbered in the order in which they came. They are found by a hash and stay bytes: to sort a million of them, or to
 * make a text of each, takes many times longer.
 */
export class KeySet {
  /** Number of keys. */
  count = 0;
  #keys = new Uint8Array(keySize * 512);
  #hashes = new Int32Array(512);
  /** Numbers of keys, plus one, by hash; half of them are free at least. */
  #slots = new Int32Array(1024);

  /** The key of a number, as a view that is there until the next is added. */
  at(number: number): Uint8Array {
    return this.#keys.subarray(number * keySize, (number + 1) * keySize);
  }

  /** Number of the key at an offset of some bytes; -1 for one that is not here. */
  find(bytes: Uint8Array, offset: number): number {
    const hash = hashAt(bytes, offset);
    return this.#slots[this.#slotOf(hash, bytes, offset)]! - 1;
  }

  /** Adds the key at an offset of some bytes, unless it is here. */
  add(bytes: Uint8Array, offset: number): void {
    const hash = hashAt(bytes, offset);
    const slot = this.#slotOf(hash, bytes, offset);
    if (this.#slots[slot] !== 0) return;
    if (this.count === this.#hashes.length) {
      this.#grow();
      this.add(bytes, offset);
      return;
    }
    for (let i = 0; i < keySize; i++) this.#keys[this.count * keySize + i] = bytes[offset + i]!;
    this.#hashes[this.count] = hash;
    this.count += 1;
    this.#slots[slot] = this.count;
  }

  /** The slot of a key: its own, or the free one that would be. */
  #slotOf(hash: number, bytes: Uint8Array, offset: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const number = this.#slots[slot]! - 1;
      if (number < 0 || (this.#hashes[number] === hash && this.#isAt(number, bytes, offset))) return slot;
    }
  }

  #isAt(number: number, bytes: Uint8Array, offset: number): boolean {
    for (let i = 0; i < keySize; i++) if (this.#keys[number * keySize + i] !== bytes[offset + i]) return false;
    return true;
  }

  #grow(): void {
    const [keys, hashes] = [this.#keys, this.#hashes];
    this.#keys = new Uint8Array(keys.length * 2);
    this.#keys.set(keys);
    this.#hashes = new Int32Array(hashes.length * 2);
    this.#hashes.set(hashes);
    this.#slots = new Int32Array(this.#slots.length * 2);
    const mask = this.#slots.length - 1;
    for (let number = 0; number < this.count; number++) {
      let slot = hashes[number]! & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = number + 1;
    }
  }
}

function hashAt(bytes: Uint8Array, offset: number): number {
  let hash = seed;
  for (let at = offset; at < offset + keySize; at += 4) {
    const word = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
    hash = Math.imul(hash ^ word, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}
