import { digestSize, Md5Lanes, memoryToHash, type Stretch } from '../codecs/md5-lanes/index.ts';
import { u32At } from '../core/bytes.ts';
import { firstRow, headerSizeAt, rowMd5Offset, rowSizeAt } from '../formats/blte/chunk-rows.ts';
import { bltePrefixSize } from '../formats/blte/header.ts';
import { headerLimit } from './entry-verifier.ts';

/** Reads bytes of an object, as many as there is room for. @throws when they are not there */
type ReadTo = (bytes: Uint8Array, offset: number) => void;

/** An entry that is there to its end. */
export interface EntryToProve {
  /** Or its first bytes. */
  readonly ekey: Uint8Array;
  readonly offset: number;
  readonly size: number;
  /** A patch: its key is the MD5 of its bytes. */
  readonly raw: boolean;
}

/** An object whose entries are being proven. */
export interface ObjectProof {
  /** Something of it is wrong, or cannot be told here. */
  isOpen: boolean;
}

/** Bytes in the memory, and the digest that they must have. */
interface Unit extends Stretch {
  digest: Uint8Array;
  /** Where it stands there. */
  digestAt: number;
  object: ObjectProof;
}

/** Larger reads take no less time, and there are chunks enough for all lanes in it. */
const memoryBytes = 8 << 20;
/** What waits for its hash is remembered, some hundred bytes each: of tiny entries there is room for very many. */
const mostUnits = 8192;
/** What lies between two runs of bytes is read along up to here. */
const leastRead = 256 << 10;

/**
 * Proves that entries are right, and says no more than that, for most are. Objects are read to where they are hashed, and nothing is made for an entry but
 * what its hashes take. An entry is right when its header, or all of it where it has no table, hashes to its key, and each chunk to what the header says.
 */
export class EntryProver {
  readonly #memory: Uint8Array;
  readonly #lanes: Md5Lanes;
  #used: number = Md5Lanes.reservedBytes;
  #units: Unit[] = [];
  #object: ObjectProof = { isOpen: true };
  #read: ReadTo = () => {};
  /** The bytes of the object that are in the memory, and where they begin there. */
  #start = 0;
  #end = 0;
  #at = 0;
  /** Where the run of bytes ends that is being read, and the last one. */
  #runEnd = 0;
  #lastEnd = 0;

  constructor() {
    const memory = memoryToHash(memoryBytes);
    this.#memory = new Uint8Array(memory.buffer);
    this.#lanes = new Md5Lanes(memory);
  }

  /** Begins with an object. What is said of it counts after the next {@link flush}. @param end where the last byte of it that is wanted lies */
  open(read: ReadTo, end: number): ObjectProof {
    this.#read = read;
    this.#object = { isOpen: false };
    this.#lastEnd = end;
    this.#forget();
    return this.#object;
  }

  /** Reads an entry of the object, and sees to it that it is hashed. @param runEnd where the bytes end that lie there without a gap @throws as reading does */
  add(entry: EntryToProve, runEnd: number): void {
    this.#runEnd = runEnd;
    if (this.#units.length >= mostUnits) this.#hash();
    if (!this.#object.isOpen && !this.#addEntry(entry)) this.#object.isOpen = true;
  }

  /** Hashes what was read. */
  flush(): void {
    this.#hash();
    this.#used = Md5Lanes.reservedBytes;
    this.#forget();
  }

  #hash(): void {
    const units = this.#units;
    const digests = this.#lanes.digest(units);
    for (let i = 0; i < units.length; i++) {
      const { digest, digestAt, object } = units[i]!;
      if (!isDigest(digests, i * digestSize, digest, digestAt)) object.isOpen = true;
    }
    this.#units = [];
  }

  #forget(): void {
    this.#start = 0;
    this.#end = 0;
  }

  #addEntry({ ekey, offset, size, raw }: EntryToProve): boolean {
    if (raw) return this.#addUnit(offset, size, ekey, 0);
    const start = size > bltePrefixSize ? this.#find(offset, bltePrefixSize) : -1;
    const headerSize = start < 0 ? -1 : headerSizeAt(this.#memory, start);
    if (headerSize === bltePrefixSize) return this.#addUnit(offset, size, ekey, 0);
    if (headerSize < 0 || headerSize > Math.min(size, headerLimit)) return false;
    return this.#addUnit(offset, headerSize, ekey, 0) && this.#addChunks(offset, headerSize, size);
  }

  #addChunks(offset: number, headerSize: number, size: number): boolean {
    const at = this.#find(offset, headerSize);
    const rowSize = at < 0 ? 0 : rowSizeAt(this.#memory, at, { headerSize, objectSize: size });
    if (rowSize === 0) return false;
    // What is read for the chunks may come to lie where the header is.
    const isAllThere = offset + size <= this.#end;
    const header = isAllThere ? this.#memory : this.#memory.slice(at, at + headerSize);
    const headerAt = isAllThere ? at : 0;
    let chunk = offset + headerSize;
    for (let row = firstRow(headerAt); row < headerAt + headerSize; row += rowSize) {
      const encodedSize = u32At(header, row);
      if (!this.#addUnit(chunk, encodedSize, header, row + rowMd5Offset)) return false;
      chunk += encodedSize;
    }
    return true;
  }

  /** @returns false for one that is too large */
  #addUnit(offset: number, size: number, digest: Uint8Array, digestAt: number): boolean {
    const at = this.#find(offset, size);
    if (at >= 0) this.#units.push({ offset: at, size, digest, digestAt, object: this.#object });
    return at >= 0;
  }

  /** Where bytes of the object are in the memory; they are read when they are not there. −1 for more than it has room for. */
  #find(offset: number, size: number): number {
    if (offset < this.#start || offset + size > this.#end) {
      if (size > memoryBytes) return -1;
      this.#fill(offset, size);
    }
    return this.#at + offset - this.#start;
  }

  #fill(offset: number, size: number): void {
    const wanted = Math.max(size, this.#runEnd - offset, Math.min(this.#lastEnd - offset, leastRead));
    const left = this.#memory.length - this.#used;
    if (left < Math.min(wanted, Math.max(size, memoryBytes / 2))) this.flush();
    const bytes = Math.min(wanted, this.#memory.length - this.#used, memoryBytes);
    this.#read(this.#memory.subarray(this.#used, this.#used + bytes), offset);
    this.#at = this.#used;
    this.#start = offset;
    this.#end = offset + bytes;
    this.#used += bytes;
  }
}

/** True when the digest at an offset of some bytes is the one at an offset of others, which may be cut: an installation knows only the first bytes of a key. */
function isDigest(digests: Uint8Array, at: number, expected: Uint8Array, expectedAt: number): boolean {
  const size = Math.min(digestSize, expected.length - expectedAt);
  for (let i = 0; i < size; i++) if (digests[at + i] !== expected[expectedAt + i]) return false;
  return true;
}
