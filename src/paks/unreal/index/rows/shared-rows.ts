import type { CipherUnit } from '../../keys.ts';

/** Where the bytes of an index, or of a part of it, lie in the file. */
export interface IndexStretch {
  readonly offset: number;
  readonly size: number;
  /** How they are decrypted; absent where they are not encrypted. */
  readonly cipher?: IndexCipher | undefined;
}

/** What decrypts a part of an index. */
export interface IndexCipher {
  readonly unit: CipherUnit;
  readonly key: Uint8Array;
}

/** Rows of an index of versions 1 to 9 (legacy-rows.ts). */
export interface LegacyData {
  readonly form: 'legacy';
  /** The whole index, or where it lies in the file: its rows are read there. */
  readonly index: Uint8Array | IndexStretch;
  /** Offset of the name of each row in the index, the record is behind it; and the end of the last. */
  readonly places: Uint32Array;
}

/** Records that rows of version 10 and above name by a location (located-records.ts). */
export interface LocatedData {
  /** The whole index, or where it lies in the file. */
  readonly index: Uint8Array | IndexStretch;
  /** Where its encoded entries start, and where they end. */
  readonly start: number;
  readonly end: number;
  /** The bytes in which plain records are, and the offset of each. */
  readonly plain: Uint8Array;
  readonly plainPlaces: Uint32Array;
  /** Offset of the first of their IVs, which follow each other; -1 where they have none. */
  readonly ivs: number;
}

/** Rows of a directory index in its nested form (directory-rows.ts). */
export interface DirectoryData {
  readonly form: 'directory';
  /** The whole index, or where it lies in the file: its rows are read there. */
  readonly index: Uint8Array | IndexStretch;
  /** Offset of the name of each row's file, its location is behind it; and the end of the last. */
  readonly filePlaces: Uint32Array;
  /** Offset of the name of each directory that has files, and number of its first row. */
  readonly directoryPlaces: Uint32Array;
  readonly firstRows: Uint32Array;
  readonly records: LocatedData;
}

/** Rows of a path-hash index (hash-rows.ts). */
export interface HashData {
  readonly form: 'hashes';
  /** The rows: each hash u64 · location i32. */
  readonly table: Uint8Array;
  /** The names that are listed, by location. */
  readonly names: ReadonlyMap<number, string>;
  readonly records: LocatedData;
}

/** Rows that stay bytes, as plain data. Threads that open the same PAK are given it, and need not read the index again. */
export type SharedRows = LegacyData | DirectoryData | HashData;

/** Numbers that are added one by one; how many there will be nobody knows. */
export class GrowingNumbers {
  #numbers = new Uint32Array(1024);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(number: number): void {
    if (this.#count === this.#numbers.length) {
      const larger = new Uint32Array(this.#count * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#count++] = number;
  }

  /** All of them, in shared memory. */
  done(): Uint32Array {
    return inSharedNumbers(this.#numbers.subarray(0, this.#count));
  }
}

/** Memory that threads can share, of zeros. */
export function sharedBytes(size: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(size));
}

/** Numbers in memory that threads can share: zeros. */
export function sharedNumbers(count: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(count * 4));
}

/** These bytes in memory that threads can share: themselves where they are in it. */
export function inSharedBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.buffer instanceof SharedArrayBuffer) return bytes;
  const shared = sharedBytes(bytes.length);
  shared.set(bytes);
  return shared;
}

/** An index for threads: its bytes in memory that they can share, or where it lies. */
export function sharedIndex(index: Uint8Array | IndexStretch): Uint8Array | IndexStretch {
  return index instanceof Uint8Array ? inSharedBytes(index) : index;
}

function inSharedNumbers(numbers: Uint32Array): Uint32Array {
  const shared = sharedNumbers(numbers.length);
  shared.set(numbers);
  return shared;
}
