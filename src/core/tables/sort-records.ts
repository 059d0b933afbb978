import { copyRecord, uintAt, viewOf } from '../bytes.ts';
import { giveBack, largeBytes } from './large-bytes.ts';
import { prefixAt, prefixStarts } from './prefix-starts.ts';

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
  return sortDealt(dealtOf([whole], stride), stride, keySize);
}

/** As {@link sortRecords}, of whole records in several pieces, whose memory is given back: they are empty afterwards. So all of them are there twice at no time. */
export function sortTaken(pieces: readonly Uint8Array[], stride: number, keySize: number): Uint8Array {
  return sortDealt(dealtOf(pieces, stride, giveBack), stride, keySize);
}

/** Sorts each bucket. */
function sortDealt({ dealt, starts, dealtBy }: Dealt, stride: number, keySize: number): Uint8Array {
  const bucket = new Bucket(dealt, { stride, keySize, dealtBy });
  for (let i = 1; i < starts.length; i++) {
    if (starts[i]! - starts[i - 1]! > 1) bucket.sort(starts[i - 1]!, starts[i]!);
  }
  return dealt;
}

/** Records bucket by bucket, and where each starts; of a key the first `dealtBy` bytes are done. */
interface Dealt {
  dealt: Uint8Array;
  starts: Uint32Array;
  dealtBy: number;
}

/** @param onDealt called with each piece whose records are copied */
function dealtOf(pieces: readonly Uint8Array[], stride: number, onDealt?: (piece: Uint8Array) => void): Dealt {
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  const isFew = size / stride < fewRecords;
  const starts = isFew ? Uint32Array.of(0, size / stride) : prefixStarts(pieces, stride);
  const dealt = largeBytes(size);
  const target = viewOf(dealt);
  const next = starts.slice();
  for (const piece of pieces) {
    const source = viewOf(piece);
    for (let from = 0; from < piece.length; from += stride) {
      copyRecord(source, from, { target, to: next[isFew ? 0 : prefixAt(piece, from)]!++ * stride, size: stride });
    }
    onDealt?.(piece);
  }
  return { dealt, starts, dealtBy: isFew ? 0 : 2 };
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

  constructor(bytes: Uint8Array, { stride, keySize, dealtBy }: { stride: number; keySize: number; dealtBy: number }) {
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
