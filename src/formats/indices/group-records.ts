// The records of all indices of a group, dealt by the first byte of their keys. Which archive they are of is noted once for all that follow one another. What
// has the same first byte fits the caches: there it is sorted by the numbers of the records, for to look at one by its number costs little.

import { orderOfWords } from '../../core/sorting/sort-words.ts';
import { giveBack } from '../../core/tables/large-bytes.ts';

/** Bytes of a key, and of a record in the index of an archive: key, size u32, offset u32. */
const keySize = 16;
export const indexRecordSize = 24;
const recordSize = indexRecordSize;
const recordWords = recordSize / 4;
/** Records that a piece of a bucket has room for. */
const fewestInPiece = 16;
const mostInPiece = 1024;
/** Bytes of memory that are taken at once: little for a small group. What is larger than 32 MiB the C library always gives back, and is not misled by. */
const smallSlab = 1 << 16;
const largeSlab = 33 * (1 << 20);
/** Small ones that are taken first. */
const smallSlabs = 4;

/** The records of a group. */
export class GroupRecords {
  count = 0;
  readonly #slabs = new Slabs();
  readonly #buckets: Bucket[];

  constructor() {
    this.#buckets = Array.from({ length: 0x100 }, () => new Bucket(this.#slabs));
  }

  /** Takes the records of an archive that lie one after the other in some bytes. They are sorted, so that some in a row begin alike. */
  add(bytes: Uint8Array, archive: number): void {
    const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
    const words = new Uint32Array(aligned.buffer, aligned.byteOffset, bytes.length / 4);
    for (let start = 0, end = 0; start < bytes.length; start = end) {
      while (end < bytes.length && bytes[end] === bytes[start]) end += recordSize;
      this.#buckets[bytes[start]!]!.add(words, { start: start / 4, end: end / 4 }, archive);
    }
    this.count += bytes.length / recordSize;
  }

  /** Lets go of them all. */
  giveBack(): void {
    this.#slabs.giveBack();
  }

  /**
   * The records whose keys begin with a byte, in the order of their keys; equal keys as they came. Afterwards there are none. What it gives holds until the
   * memory is used again.
   */
  takeSorted(byte: number, memory: SortingMemory): SortedRecords {
    const bucket = this.#buckets[byte]!;
    const { count } = bucket;
    memory.reserve(count);
    bucket.moveTo(memory);
    const { view, archives } = memory;
    const [words, order] = [memory.words.subarray(0, count), memory.order.subarray(0, count)];
    for (let i = 0, at = 1; i < count; i++, at += recordSize) words[i] = view.getUint32(at);
    orderOfWords(words, order, (a, b) => compareRecords(view, a, b));
    return { records: view, archives, order };
  }
}

/** Memory for records, cut from few large pieces: many small ones would leave holes that the system does not get back. */
class Slabs {
  readonly #taken: Uint8Array[] = [];
  #slab = new Uint8Array();
  #at = 0;

  take(words: number): Uint32Array {
    if (this.#at + words * 4 > this.#slab.length) {
      this.#slab = new Uint8Array(this.#taken.length < smallSlabs ? smallSlab : largeSlab);
      this.#taken.push(this.#slab);
      this.#at = 0;
    }
    const part = new Uint32Array(this.#slab.buffer, this.#at, words);
    this.#at += words * 4;
    return part;
  }

  giveBack(): void {
    giveBack(...this.#taken.splice(0));
  }
}

/** The records whose keys begin with the same byte. */
class Bucket {
  count = 0;
  readonly #slabs: Slabs;
  #pieces: Uint32Array[] = [];
  #piece: Uint32Array = new Uint32Array();
  #at = 0;
  /** Archives whose records follow one another, and how many of each: two numbers each. */
  #runs: number[] = [];

  constructor(slabs: Slabs) {
    this.#slabs = slabs;
  }

  /** Takes records of an index. */
  add(from: Uint32Array, { start, end }: { start: number; end: number }, archive: number): void {
    for (let at = start; at < end; ) {
      if (this.#at === this.#piece.length) this.#grow();
      const [piece, stop] = [this.#piece, Math.min(end, at + this.#piece.length - this.#at)];
      let to = this.#at;
      for (; at < stop; at++, to++) piece[to] = from[at]!;
      this.#at = to;
    }
    const count = (end - start) / recordWords;
    this.count += count;
    this.#runs.push(archive, count);
  }

  #grow(): void {
    const records = Math.min(mostInPiece, Math.max(fewestInPiece, this.count));
    this.#piece = this.#slabs.take(records * recordWords);
    this.#pieces.push(this.#piece);
    this.#at = 0;
  }

  moveTo({ records, archives }: SortingMemory): void {
    const left = this.count * recordWords;
    let to = 0;
    for (const piece of this.#pieces) {
      records.set(left - to < piece.length ? piece.subarray(0, left - to) : piece, to);
      to += piece.length;
    }
    for (let i = 0, first = 0; i < this.#runs.length; i += 2) {
      const end = first + this.#runs[i + 1]!;
      for (; first < end; first++) archives[first] = this.#runs[i]!;
    }
    [this.#pieces, this.#piece, this.#runs] = [[], new Uint32Array(), []];
    [this.count, this.#at] = [0, 0];
  }
}

/** Memory that the records of one first byte after the other are sorted in. */
export class SortingMemory {
  records = new Uint32Array();
  /** The same. */
  view = new DataView(this.records.buffer);
  archives = new Uint16Array();
  /** Of each record four bytes of the key behind its first. */
  words = new Uint32Array();
  order = new Uint32Array();

  /** Makes room for so many records. */
  reserve(count: number): void {
    if (count <= this.order.length) return;
    const length = Math.ceil(count * 1.25);
    this.records = new Uint32Array(length * recordWords);
    this.view = new DataView(this.records.buffer);
    this.archives = new Uint16Array(length);
    this.words = new Uint32Array(length);
    this.order = new Uint32Array(length);
  }
}

/** Records in order: they stand in the view as they came. */
export interface SortedRecords {
  records: DataView;
  /** The archive of each. */
  archives: Uint16Array;
  /** Their numbers, in the order of their keys. */
  order: Uint32Array;
}

function compareRecords(view: DataView, a: number, b: number): number {
  const [left, right] = [a * recordSize, b * recordSize];
  for (let i = 0; i < keySize; i += 4) {
    const difference = view.getUint32(left + i) - view.getUint32(right + i);
    if (difference !== 0) return difference;
  }
  return 0;
}
