import { ShortMessages } from '../codecs/md5-lanes/short-messages.ts';
import { viewOf } from '../core/bytes.ts';

/** Entries of an object, as columns. */
interface Entries {
  /** Their ekeys, 16 bytes each. */
  keys: Uint8Array;
  offset(index: number): number;
  /** Encoded size. */
  size(index: number): number;
}

const keySize = 16;
const prefixSize = 8;
/*
 * The header of an entry with one chunk, as formats/blte/header.ts has it: magic, u32 header size, u8 format 0x0f, u24 count 1, u32 encoded size of
 * the chunk, u32 decoded size, its MD5.
 */
const headerSizeAt = 4;
const formatAt = 8;
const chunkSizeAt = 12;
const chunkMd5At = 20;
const plainHeaderSize = 36;
const magic = 0x424c5445;
const formatOfOneChunk = 0x0f000001;

/** Stands for what the bytes do not say themselves. */
const keyOfEntry = -1;
/** Room for messages with their padding: for many entries, not for as many as there can be. */
const paddedTimes = 4;
const leastPadded = 64;

/**
 * Checks entries that came whole and are small, of which a piece has hundreds: those with one chunk and those without a table are hashed together, and
 * nothing is made for each. It says of an entry that it is right, or nothing: whatever else it is, an `EntryVerifier` tells.
 */
export class SmallEntries {
  /** Encoded size of the largest. */
  static readonly maxSize = 4096;
  readonly #messages: ShortMessages;
  readonly #view: DataView;
  /** Of each message that waits: the number of its entry, and where what it should hash to lies among the bytes; -1: it is the key of the entry. */
  readonly #entry: Int32Array;
  readonly #expected: Int32Array;
  #waiting = 0;

  /** Undefined where the machine cannot hash many together. @param pieceBytes most bytes that are looked at together */
  static create(pieceBytes: number): SmallEntries | undefined {
    const paddedBytes = paddedTimes * pieceBytes;
    const messages = ShortMessages.create({ givenBytes: pieceBytes, paddedBytes });
    return messages && new SmallEntries(messages, Math.floor(paddedBytes / leastPadded));
  }

  private constructor(messages: ShortMessages, most: number) {
    const { given } = messages;
    this.#messages = messages;
    this.#view = viewOf(given);
    this.#entry = new Int32Array(most);
    this.#expected = new Int32Array(most);
  }

  /** Most bytes that {@link check} takes. */
  get pieceBytes(): number {
    return this.#messages.given.length;
  }

  /**
   * Looks at the entries from `first` on, before `end`, all of which lie in some bytes of their object.
   * @param piece the bytes, and their position in the object
   * @returns for each entry 1 where all of it is right
   */
  check(piece: { bytes: Uint8Array; position: number }, entries: Entries, first: number, end: number): Uint8Array {
    this.#messages.given.set(piece.bytes);
    const right = new Uint8Array(end - first);
    const judge = (): void => this.#judge(entries.keys, first, right);
    for (let index = first; index < end; index++) {
      const at = entries.offset(index) - piece.position;
      const size = entries.size(index);
      const covered = size > SmallEntries.maxSize ? 0 : this.#coveredByKey(at, size);
      if (covered === 0) continue;
      // Until one of its hashes is wrong.
      right[index - first] = 1;
      this.#add(at, covered, { index, expected: keyOfEntry, judge });
      if (covered < size) this.#add(at + covered, size - covered, { index, expected: at + chunkMd5At, judge });
    }
    judge();
    return right;
  }

  /** Bytes from the start of an entry that its key covers: its header, or all of it; 0 for an entry that is not as plain as that. */
  #coveredByKey(at: number, size: number): number {
    const view = this.#view;
    if (size <= prefixSize || view.getUint32(at) !== magic) return 0;
    const headerSize = view.getUint32(at + headerSizeAt);
    if (headerSize === 0) return size;
    const isPlain =
      headerSize === plainHeaderSize &&
      size > headerSize &&
      view.getUint32(at + formatAt) === formatOfOneChunk &&
      view.getUint32(at + chunkSizeAt) === size - headerSize;
    return isPlain ? headerSize : 0;
  }

  #add(
    at: number,
    size: number,
    { index, expected, judge }: { index: number; expected: number; judge: () => void },
  ): void {
    if (!this.#messages.add(at, size)) {
      judge();
      this.#messages.add(at, size);
    }
    this.#entry[this.#waiting] = index;
    this.#expected[this.#waiting] = expected;
    this.#waiting += 1;
  }

  /** Hashes what waits, and takes back of which entries it was said that they are right. */
  #judge(keys: Uint8Array, first: number, right: Uint8Array): void {
    const digests = this.#messages.digest();
    const { given } = this.#messages;
    for (let i = 0; i < this.#waiting; i++) {
      const index = this.#entry[i]!;
      const expected = this.#expected[i]!;
      const isRight =
        expected === keyOfEntry
          ? isSame(digests, i * keySize, keys, index * keySize)
          : isSame(digests, i * keySize, given, expected);
      if (!isRight) right[index - first] = 0;
    }
    this.#waiting = 0;
  }
}

function isSame(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): boolean {
  for (let i = 0; i < keySize; i++) if (a[aAt + i] !== b[bAt + i]) return false;
  return true;
}
