import { uintAt } from '../bytes.ts';
import { prefixAt, prefixStarts } from './prefix-starts.ts';

/** Fewer records than this are not dealt: to look at every bucket would take longer than to sort them. */
const fewRecords = 0x1000;
/** Records that can be sorted as numbers at most: 53 bits have room for 32 of a key and 21 for the place of its record. */
const placesInNumber = 2 ** 21;
const wordBytes = 4;

/** Sorts records of one size by their leading bytes into a new array, in the order of {@link sortedOrder}. */
export function sortRecords(bytes: Uint8Array, stride: number, keySize: number): Uint8Array {
  const order = sortedOrder(bytes, stride, keySize);
  const sorted = new Uint8Array(order.length * stride);
  for (let row = 0, to = 0; row < order.length; row++) {
    const from = order[row]! * stride;
    // Byte by byte: to make a view of a few bytes takes longer.
    for (let i = 0; i < stride; i++) sorted[to++] = bytes[from + i]!;
  }
  return sorted;
}

/**
 * The numbers of records of one size in the order of their leading bytes, as memcmp orders them; equal keys keep their order.
 * Many records are first dealt into 65,536 buckets by their first two bytes. A bucket is sorted as numbers, each of the next four bytes of a
 * key and of the place of its record, which runtimes sort without calling back; only what is equal there is compared to the end.
 * Three million records with even keys take half a second, with no object for any of them.
 * @param stride bytes of a record, @param keySize how many of its leading bytes decide
 */
export function sortedOrder(bytes: Uint8Array, stride: number, keySize: number): Uint32Array {
  const count = Math.floor(bytes.length / stride);
  const { order, starts, dealtBy } = count < fewRecords ? undealt(count) : deal(bytes, stride, count);
  const bucket = new Bucket(bytes, { stride, keySize, dealtBy });
  for (let i = 1; i < starts.length; i++) {
    if (starts[i]! - starts[i - 1]! > 1) bucket.sort(order.subarray(starts[i - 1], starts[i]));
  }
  return order;
}

/** Records in the order of their buckets, and where each bucket starts; of a key the first `dealtBy` bytes are done. */
interface Dealt {
  order: Uint32Array;
  starts: Uint32Array;
  dealtBy: number;
}

function undealt(count: number): Dealt {
  return { order: Uint32Array.from({ length: count }, (_, row) => row), starts: Uint32Array.of(0, count), dealtBy: 0 };
}

function deal(bytes: Uint8Array, stride: number, count: number): Dealt {
  const starts = prefixStarts(bytes, stride, count);
  const order = new Uint32Array(count);
  const next = starts.slice();
  for (let row = 0; row < count; row++) order[next[prefixAt(bytes, row * stride)]!++] = row;
  return { order, starts, dealtBy: 2 };
}

/** Sorts records that are equal so far. */
class Bucket {
  readonly #bytes: Uint8Array;
  readonly #stride: number;
  readonly #keySize: number;
  /** The word of a record that is sorted as part of a number: its offset and its bytes. */
  readonly #wordAt: number;
  readonly #wordSize: number;
  #numbers = new Float64Array(64);
  #places = new Uint32Array(64);

  constructor(bytes: Uint8Array, { stride, keySize, dealtBy }: { stride: number; keySize: number; dealtBy: number }) {
    this.#bytes = bytes;
    this.#stride = stride;
    this.#keySize = keySize;
    this.#wordAt = dealtBy;
    this.#wordSize = Math.max(0, Math.min(wordBytes, keySize - dealtBy));
  }

  /** Sorts the numbers of records, where they are. */
  sort(rows: Uint32Array): void {
    const count = rows.length;
    if (count > placesInNumber) {
      rows.sort((a, b) => this.#compare(a, b));
      return;
    }
    if (count > this.#numbers.length) {
      this.#numbers = new Float64Array(2 * count);
      this.#places = new Uint32Array(2 * count);
    }
    const numbers = this.#numbers.subarray(0, count);
    for (let i = 0; i < count; i++) numbers[i] = this.#word(rows[i]!) * placesInNumber + i;
    numbers.sort();
    this.#places.set(rows);
    for (let i = 0; i < count; i++) rows[i] = this.#places[numbers[i]! % placesInNumber]!;
    this.#sortEqual(rows, numbers);
  }

  /** Compares to the end what has the same word. */
  #sortEqual(rows: Uint32Array, numbers: Float64Array): void {
    for (let from = 0; from < rows.length; ) {
      const end = (Math.floor(numbers[from]! / placesInNumber) + 1) * placesInNumber;
      let to = from + 1;
      while (to < rows.length && numbers[to]! < end) to++;
      if (to - from > 1) rows.subarray(from, to).sort((a, b) => this.#compare(a, b));
      from = to;
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
