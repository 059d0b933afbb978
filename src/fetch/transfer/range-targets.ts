import { copyRecord, fromHex, toHex, viewOf } from '../../core/bytes.ts';
import { giveBack } from '../../core/tables/large-bytes.ts';
import type { RangeJob, RangeTarget } from './range-job.ts';

const keySize = 16;
/** Offset, size and held of each. */
const numbersOfOne = 3;

/** Targets as columns in one memory: plain data, which travels to threads as bytes. */
export interface TargetColumns {
  /** Their ekeys, 16 bytes each. */
  keys: Uint8Array;
  /** For each its offset, its size, and the bytes held from its start. */
  numbers: Float64Array;
}

/** The entries of a range, thousands of them, without an object for each. In the order of their offsets, none overlapping another. */
export class RangeTargets implements TargetColumns {
  readonly keys: Uint8Array;
  readonly numbers: Float64Array;
  readonly #keyView: DataView;

  constructor({ keys, numbers }: TargetColumns) {
    this.keys = keys;
    this.numbers = numbers;
    this.#keyView = viewOf(keys);
  }

  /** Room for so many, to be set one by one. */
  static ofLength(count: number): RangeTargets {
    const numberBytes = count * numbersOfOne * Float64Array.BYTES_PER_ELEMENT;
    const memory = new ArrayBuffer(numberBytes + count * keySize);
    const numbers = new Float64Array(memory, 0, count * numbersOfOne);
    return new RangeTargets({ numbers, keys: new Uint8Array(memory, numberBytes) });
  }

  static of(list: readonly RangeTarget[]): RangeTargets {
    const targets = RangeTargets.ofLength(list.length);
    for (const [index, target] of list.entries()) {
      targets.setNumbers(index, target.offset, target.size, target.held);
      targets.keys.set(fromHex(target.ekey), index * keySize);
    }
    return targets;
  }

  /** Gives the memory back: nothing may be asked of them any more. Thousands of jobs end faster than garbage is collected. */
  giveBack(): void {
    giveBack(this.numbers);
  }

  get length(): number {
    return this.keys.length / keySize;
  }

  /** Offset of an entry's first byte in the object. */
  offset(index: number): number {
    return this.numbers[index * numbersOfOne]!;
  }

  /** Encoded size. */
  size(index: number): number {
    return this.numbers[index * numbersOfOne + 1]!;
  }

  /** Bytes from its start that the store holds already, verified. */
  held(index: number): number {
    return this.numbers[index * numbersOfOne + 2]!;
  }

  /** True when there are some, and of each all bytes are missing. */
  get lackAll(): boolean {
    for (let index = 0; index < this.length; index++) if (this.held(index) > 0 || this.size(index) === 0) return false;
    return this.length > 0;
  }

  /** Offset behind its last byte. */
  end(index: number): number {
    return this.offset(index) + this.size(index);
  }

  /** Hex. */
  ekey(index: number): string {
    return toHex(this.keys.subarray(index * keySize, (index + 1) * keySize));
  }

  at(index: number): RangeTarget {
    return { ekey: this.ekey(index), offset: this.offset(index), size: this.size(index), held: this.held(index) };
  }

  setNumbers(index: number, offset: number, size: number, held: number): void {
    const at = index * numbersOfOne;
    this.numbers[at] = offset;
    this.numbers[at + 1] = size;
    this.numbers[at + 2] = held;
  }

  /** Takes an ekey that lies at an offset of some bytes. */
  setKey(index: number, bytes: DataView, from: number): void {
    copyRecord(bytes, from, { target: this.#keyView, to: index * keySize, size: keySize });
  }

  /** Some of them, of each of which so much is held. */
  pick(indices: readonly number[], held: ArrayLike<number>): RangeTargets {
    // A build has millions of entries, of which mostly nothing is held.
    if (indices.length === this.length && indices.every((index) => this.held(index) === held[index])) return this;
    const picked = RangeTargets.ofLength(indices.length);
    for (let i = 0; i < indices.length; i++) {
      const index = indices[i]!;
      picked.setNumbers(i, this.offset(index), this.size(index), held[index]!);
      picked.setKey(i, this.#keyView, index * keySize);
    }
    return picked;
  }

  /** Something of each, for a few. */
  map<Value>(of: (target: RangeTarget) => Value): Value[] {
    return Array.from(this, of);
  }

  /** One after the other, as objects: for a few. */
  *[Symbol.iterator](): Generator<RangeTarget> {
    for (let index = 0; index < this.length; index++) yield this.at(index);
  }
}

/** A job as it is worked on. Without its `targets` it is plain data. */
export interface PackedJob extends Omit<RangeJob, 'targets'> {
  targets: RangeTargets;
  /** Its entries are patches: no BLTE, a key is the MD5 of the bytes. */
  raw?: boolean;
}

/** A job with its entries as columns. */
export function packJob(job: RangeJob | PackedJob): PackedJob {
  if (job.targets instanceof RangeTargets) return { ...job, targets: job.targets };
  const raw = job.targets.some((target) => target.raw === true);
  return { ...job, targets: RangeTargets.of(job.targets), ...(raw && { raw }) };
}

/** The part of a job with some of its entries, one or more, of each of which so much is held. */
export function partOf(job: PackedJob, indices: readonly number[], held: ArrayLike<number>): PackedJob {
  const { targets } = job;
  const [first, last] = [indices[0] ?? 0, indices.at(-1) ?? 0];
  const start = targets.offset(first) + held[first]!;
  return { ...job, targets: targets.pick(indices, held), start, end: targets.end(last) };
}

/** True for a job whose entry is all of its object, a loose one: the object has its name. */
export function isLoose({ path, targets }: Pick<PackedJob, 'path' | 'targets'>): boolean {
  return targets.length === 1 && path.endsWith(targets.ekey(0));
}
