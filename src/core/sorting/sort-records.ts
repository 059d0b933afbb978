import { copyRecord, uintAt, viewOf } from '../bytes.ts';
import { largeBytes } from '../tables/large-bytes.ts';
import { prefixAt, prefixStarts } from '../tables/prefix-starts.ts';

/** Fewer records than this are not dealt: to look at every bucket would take longer than to sort them. */
const fewRecords = 0x1000;
/** Records that can be sorted as numbers at most: 53 bits have room for 32 of a key and 21 for the place of its record. */
const placesInNumber = 2 ** 21;
const wordBytes = 4;

/**
 * Sorts records of one size by their leading bytes, as memcmp orders them, into a new array; equal keys keep their order.
 * Many records are first dealt into 65,536 buckets by their first two bytes. A bucket, which fits the caches, is sorted as numbers, each of the
 * next four bytes of a key and of the place of its record, which runtimes sort without calling back; only what is equal there is compared to the end.
 * Three million records with even keys take half a second, with no object for any of them.
 * @param stride bytes of a record, @param keySize how many of its leading bytes decide
 */
export function sortRecords(bytes: Uint8Array, stride: number, keySize: number): Uint8Array {
  const whole = bytes.subarray(0, bytes.length - (bytes.length % stride));
  const { starts, dealtBy } = bucketsOf(whole, stride);
  const dealt = largeBytes(whole.length);
  const [source, target] = [viewOf(whole), viewOf(dealt)];
  const next = starts.slice();
  for (let from = 0; from < whole.length; from += stride) {
    const to = next[dealtBy === 0 ? 0 : prefixAt(whole, from)]!++ * stride;
    copyRecord(source, from, { target, to, size: stride });
  }
  sortBuckets(dealt, starts, { stride, keySize, dealtBy });
  return dealt;
}

/** As {@link sortRecords}, by all of their bytes and where they are: what is too large to be there twice. Where keys are even, it takes half as long again. */
export function sortInPlace(bytes: Uint8Array, stride: number): void {
  const whole = bytes.subarray(0, bytes.length - (bytes.length % stride));
  const { starts, dealtBy } = bucketsOf(whole, stride);
  if (dealtBy > 0) dealInPlace(whole, stride, starts);
  sortBuckets(whole, starts, { stride, keySize: stride, dealtBy });
}

/** Records that are made one by one, in any order, and sorted by all of their bytes. Each goes where those are that begin alike: they are there once. */
export class DealtRecords {
  /** For who writes them. */
  readonly view: DataView;
  readonly #bytes: Uint8Array;
  readonly #stride: number;
  readonly #starts: Uint32Array;
  readonly #next: Uint32Array;

  /** @param starts the first record of each value of the first two bytes, and their number, as `prefixStarts` has them */
  constructor(starts: Uint32Array, stride: number) {
    this.#bytes = largeBytes((starts.at(-1) ?? 0) * stride);
    this.view = viewOf(this.#bytes);
    this.#stride = stride;
    this.#starts = starts;
    this.#next = starts.slice();
  }

  /** Where the next record is to be written that begins with two bytes, given as a number. */
  place(prefix: number): number {
    const row = this.#next[prefix]!;
    this.#next[prefix] = row + 1;
    return row * this.#stride;
  }

  /** All of them, in order, once all are written. */
  sorted(): Uint8Array {
    const stride = this.#stride;
    sortBuckets(this.#bytes, this.#starts, { stride, keySize: stride, dealtBy: 2 });
    return this.#bytes;
  }
}

/** Where the records of each bucket begin, and the end; of a key the first `dealtBy` bytes say in which one it is. */
function bucketsOf(bytes: Uint8Array, stride: number): { starts: Uint32Array; dealtBy: number } {
  const count = bytes.length / stride;
  if (count < fewRecords) return { starts: Uint32Array.of(0, count), dealtBy: 0 };
  return { starts: prefixStarts(bytes, stride), dealtBy: 2 };
}

/** Goes through the buckets: a record that is in the wrong one changes places with that where the next of its own belongs. */
function dealInPlace(bytes: Uint8Array, stride: number, starts: Uint32Array): void {
  const view = viewOf(bytes);
  const next = starts.slice();
  for (let bucket = 0; bucket + 1 < starts.length; bucket++) {
    const end = starts[bucket + 1]! * stride;
    for (let at = next[bucket]! * stride; at < end; ) {
      const own = prefixAt(bytes, at);
      if (own === bucket) at += stride;
      else swapRecords(view, at, next[own]!++ * stride, stride);
    }
  }
}

function swapRecords(view: DataView, a: number, b: number, size: number): void {
  let at = 0;
  for (; at + 4 <= size; at += 4) {
    const word = view.getUint32(a + at);
    view.setUint32(a + at, view.getUint32(b + at));
    view.setUint32(b + at, word);
  }
  for (; at < size; at++) {
    const byte = view.getUint8(a + at);
    view.setUint8(a + at, view.getUint8(b + at));
    view.setUint8(b + at, byte);
  }
}

/** What of a record decides. */
interface SortKey {
  stride: number;
  keySize: number;
  dealtBy: number;
}

function sortBuckets(bytes: Uint8Array, starts: Uint32Array, key: SortKey): void {
  const bucket = new Bucket(bytes, key);
  for (let i = 1; i < starts.length; i++) {
    if (starts[i]! - starts[i - 1]! > 1) bucket.sort(starts[i - 1]!, starts[i]!);
  }
}

/** Sorts records that are equal so far, where they are. */
class Bucket {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #stride: number;
  readonly #keySize: number;
  /** The word of a record that is sorted as part of a number: its offset and its bytes. */
  readonly #wordAt: number;
  readonly #wordSize: number;
  #numbers = new Float64Array(64);
  #order = new Uint32Array(64);
  #copy = new Uint8Array(0);

  constructor(bytes: Uint8Array, { stride, keySize, dealtBy }: SortKey) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.#stride = stride;
    this.#keySize = keySize;
    this.#wordAt = dealtBy;
    this.#wordSize = Math.max(0, Math.min(wordBytes, keySize - dealtBy));
  }

  /** Sorts the records [first, end). */
  sort(first: number, end: number): void {
    const count = end - first;
    if (count > this.#order.length) {
      this.#numbers = new Float64Array(2 * count);
      this.#order = new Uint32Array(2 * count);
    }
    const order = this.#order.subarray(0, count);
    if (count > placesInNumber) {
      for (let i = 0; i < count; i++) order[i] = first + i;
      order.sort((a, b) => this.#compare(a, b));
    } else {
      const numbers = this.#numbers.subarray(0, count);
      for (let i = 0; i < count; i++) numbers[i] = this.#word(first + i) * placesInNumber + i;
      numbers.sort();
      for (let i = 0; i < count; i++) order[i] = first + (numbers[i]! % placesInNumber);
      this.#sortEqual(order, numbers);
    }
    this.#reorder(first, order);
  }

  /** Compares to the end what has the same word. */
  #sortEqual(order: Uint32Array, numbers: Float64Array): void {
    for (let from = 0; from < order.length; ) {
      const end = (Math.floor(numbers[from]! / placesInNumber) + 1) * placesInNumber;
      let to = from + 1;
      while (to < order.length && numbers[to]! < end) to++;
      if (to - from > 1) order.subarray(from, to).sort((a, b) => this.#compare(a, b));
      from = to;
    }
  }

  #reorder(first: number, order: Uint32Array): void {
    const stride = this.#stride;
    const start = first * stride;
    const size = order.length * stride;
    if (size > this.#copy.length) this.#copy = new Uint8Array(2 * size);
    this.#copy.set(this.#bytes.subarray(start, start + size));
    const source = viewOf(this.#copy);
    for (let i = 0; i < order.length; i++) {
      copyRecord(source, order[i]! * stride - start, { target: this.#view, to: start + i * stride, size: stride });
    }
  }

  #word(row: number): number {
    return uintAt(this.#bytes, row * this.#stride + this.#wordAt, this.#wordSize);
  }

  #compare(a: number, b: number): number {
    const bytes = this.#bytes;
    const [left, right] = [a * this.#stride, b * this.#stride];
    for (let i = this.#wordAt; i < this.#keySize; i++) {
      const difference = bytes[left + i]! - bytes[right + i]!;
      if (difference !== 0) return difference;
    }
    return a - b;
  }
}
