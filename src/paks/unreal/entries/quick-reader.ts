import { Inflater } from '../../../codecs/compression/inflater.ts';
import { isAllZero } from '../../../core/bytes.ts';
import { isSha1 } from '../../../core/hash.ts';
import { pieceSize } from '../../../files/pieces.ts';
import { Scratch } from '../../../files/scratch.ts';
import type { EntryPart } from '../../pak.ts';
import { EntryHash } from './entry-hash.ts';
import { dataOffset } from './entry-record.ts';
import { type EntryAccess, groupBlocks } from './read-entry.ts';

/** What is to be read of an entry. */
interface QuickWork {
  /** Undefined for all of it. */
  part: EntryPart | undefined;
  /** Checks the record in front of the data, and gives the SHA-1 that it has; undefined where that was done. Throws where it is not right. */
  check: ((access: EntryAccess, bytes: Uint8Array) => Uint8Array) | undefined;
}

/** Decoded bytes that are given at once; room for what a piece of stored bytes mostly becomes. */
const decodedSize = 512 << 10;

/**
 * Reads entries that are as most are: neither encrypted nor empty, and as they are or zlib in small blocks. All go through the same memory and one engine of zlib.
 * A small entry is one read, with the record in front of it.
 */
export class QuickReader {
  readonly #scratch = new Scratch();
  readonly #inflater = new Inflater();
  readonly #decoded = new Uint8Array(decodedSize);

  /** Pieces that are good until the next is asked for. @returns false where it is not such an entry, or is not right @throws E_FORMAT…, E_INTEGRITY, which mean the same */
  *read(access: EntryAccess, { part, check }: QuickWork): Generator<Uint8Array, boolean> {
    const { source, record, row } = access;
    const { offset, headerSize, storedSize } = record;
    const isZlib = row.method === 'zlib';
    if (record.size === 0 || !(isZlib || (record.method === 0 && part === undefined))) return false;
    const isSmall = part === undefined && headerSize + storedSize <= pieceSize;
    const size = isSmall ? headerSize + storedSize : headerSize;
    const first = check === undefined ? noBytes : this.#scratch.readNow(source, offset, size);
    if (first === undefined) return false;
    const sha1 = check?.(access, first);
    const small = isSmall ? first : undefined;
    if (isZlib) return yield* this.#blocks(access, part ?? { offset: 0, size: record.size }, small);
    // Whether such an entry may be without a hash is asked of others.
    if (sha1 === undefined || isAllZero(sha1)) return false;
    if (small === undefined) return yield* this.#plain(access, sha1.slice());
    const content = small.subarray(headerSize);
    if (!isSha1(content, sha1)) return false;
    yield content;
    return true;
  }

  *#plain(access: EntryAccess, sha1: Uint8Array): Generator<Uint8Array, boolean> {
    const { source, record, row } = access;
    const hash = new EntryHash(record.storedSize);
    for (let at = 0; at < record.storedSize; at += pieceSize) {
      const size = Math.min(pieceSize, record.storedSize - at);
      const piece = this.#scratch.readNow(source, dataOffset(record) + at, size);
      if (piece === undefined) return false;
      hash.update(piece, at);
      yield piece;
    }
    hash.check(sha1, row.name);
    return true;
  }

  /** @param small all bytes of the entry from its record on, where they are there */
  *#blocks(access: EntryAccess, range: EntryPart, small: Uint8Array | undefined): Generator<Uint8Array, boolean> {
    const { source, record } = access;
    const decoded = this.#decoded;
    const end = range.offset + range.size;
    let filled = 0;
    let start = -1;
    const piece = (): Uint8Array => decoded.subarray(Math.max(range.offset - start, 0), Math.min(end - start, filled));
    for (const group of groupBlocks(access, range)) {
      const from = small === undefined ? group.start : record.offset;
      const stored = small ?? this.#scratch.readNow(source, group.start, group.end - group.start);
      if (stored === undefined || group.start < from || group.end > from + stored.length) return false;
      for (const block of group.blocks) {
        // The engine has use for one byte more.
        if (block.size >= decoded.length) return false;
        if (start >= 0 && filled + block.size >= decoded.length) {
          yield piece();
          start = -1;
        }
        if (start < 0) [start, filled] = [block.at, 0];
        const input = { at: block.start - from, size: block.end - block.start };
        if (!this.#inflater.inflate(stored, input, decoded, { at: filled, size: block.size })) return false;
        filled += block.size;
      }
    }
    if (start >= 0) yield piece();
    return start >= 0;
  }
}

const noBytes = new Uint8Array(0);
