import { u32At } from '../../../core/bytes.ts';
import { putNameHash, type ViewPart } from '../../../core/jenkins.ts';
import { orderOfWords } from '../../../core/tables/sort-words.ts';
import { SortedRuns } from '../../../files/sorted-runs.ts';
import { lookupRowsPerPage, writeLookupFile } from '../../../store/derived/lookup-file.ts';
import type { LookupFolders } from '../../../store/layout.ts';
import { listfilePaths, listfileRows } from '../listfile-paths.ts';
import type { NamePlace } from '../listfile-text.ts';

const { idStride, hashStride, noId } = listfileRows;

/** Words of a row in memory: both halves of the hash, the offset of the name, the rest of that above its bytes, the id. */
const words = 5;
const [lowAt, offsetAt, sizeAt, idAt] = [1, 2, 3, 4];
/** Where an offset goes on in the word of the size. */
const sizeBits = 16;
/** Rows that are in memory at most. */
const mostRows = 1 << 22;
/** Rows of a look-up file that are handed on at a time: those of sixteen pages. */
const rowsOfPiece = 16 * lookupRowsPerPage(idStride);
/** Buckets that rows are dealt into, so that those of each fit the caches. */
const bucketBits = 8;

/** Rows whose key begins alike, in memory, and their places in the order of their keys. */
interface Bucket {
  /** Rows, one after the other, and the number of the first of them. */
  rows: Uint32Array;
  first: number;
  order: Uint32Array;
}

/** The rows of BASE.ids and BASE.hashes, sorted in memory; where they are very many as runs, on disk. Needs `close`. */
export class ListfileLookups {
  readonly #folders: LookupFolders;
  readonly #most: number;
  #rows: Uint32Array;
  #count = 0;
  #runs: { ids: SortedRuns; hashes: SortedRuns } | undefined;
  #memory: Uint32Array = new Uint32Array();

  /** @param rows that will be added, as far as it is known, @param most rows that may be in memory */
  constructor(folders: LookupFolders, { rows = 0x100, most = mostRows }: { rows?: number; most?: number } = {}) {
    this.#folders = folders;
    this.#most = most;
    this.#rows = new Uint32Array(words * Math.max(1, Math.min(rows, most)));
  }

  close(): void {
    this.#runs?.ids.close();
    this.#runs?.hashes.close();
  }

  /** Adds the row of a name. They are added in the order of their offsets in the text. */
  add(id: number | undefined, name: ViewPart, { at, size }: NamePlace): void {
    if (this.#count === this.#most) this.#spill();
    const from = this.#count * words;
    if (from === this.#rows.length) this.#grow();
    const rows = this.#rows;
    putNameHash(rows, from, name);
    rows[from + offsetAt] = at;
    rows[from + sizeAt] = size | (Math.floor(at / 2 ** 32) << sizeBits);
    rows[from + idAt] = id ?? noId;
    this.#count += 1;
  }

  #grow(): void {
    const larger = new Uint32Array(Math.min(2 * this.#rows.length, this.#most * words));
    larger.set(this.#rows);
    this.#rows = larger;
  }

  #spill(): void {
    const { temporary } = this.#folders;
    this.#runs ??= {
      // The offset stands right behind the key, so of rows with one key the last that was added comes last.
      ids: new SortedRuns(temporary, { stride: idStride, keySize: 9 }),
      hashes: new SortedRuns(temporary, { stride: hashStride, keySize: 13 }),
    };
    this.#runs.ids.addRun(this.#idPieces());
    this.#runs.hashes.addRun(this.#hashPieces());
    this.#count = 0;
  }

  /**
   * @param of mark of the text
   * @param memory that nobody needs any more: rows are sorted in it, where it is large enough
   */
  async write(
    base: string,
    { of, memory, signal }: { of: number; memory?: ArrayBufferLike | undefined; signal?: AbortSignal | undefined },
  ): Promise<void> {
    const paths = listfilePaths(this.#folders, base);
    const { temporary } = this.#folders;
    if (memory !== undefined) this.#memory = new Uint32Array(memory, 0, memory.byteLength >>> 2);
    if (this.#runs !== undefined) this.#spill();
    const ids = this.#runs === undefined ? this.#idPieces() : lastOfEach(this.#runs.ids.pieces());
    await writeLookupFile(paths.ids, { stride: idStride, rows: ids, of }, temporary, signal);
    const hashes = this.#runs?.hashes.pieces() ?? this.#hashPieces();
    await writeLookupFile(paths.hashes, { stride: hashStride, rows: hashes, of }, temporary, signal);
  }

  /** The rows by their ids, the last of each. */
  *#idPieces(): Generator<Uint8Array> {
    const piece = new Piece(idStride);
    for (const { rows, first, order } of this.#buckets(idAt)) {
      for (let i = 0; i < order.length; i++) {
        const from = (first + order[i]!) * words;
        const id = rows[from + idAt]!;
        if (i + 1 < order.length && rows[(first + order[i + 1]!) * words + idAt] === id) continue;
        const { view, at } = piece;
        view.setUint32(at, id);
        putPlace(view, at + 4, rows, from);
        view.setUint32(at + 11, rows[from]!);
        view.setUint32(at + 15, rows[from + lowAt]!);
        if (piece.next()) yield piece.take();
      }
    }
    yield piece.take();
  }

  /** The rows by their hashes. */
  *#hashPieces(): Generator<Uint8Array> {
    const piece = new Piece(hashStride);
    for (const { rows, first, order } of this.#buckets(0)) {
      for (let i = 0; i < order.length; i++) {
        const from = (first + order[i]!) * words;
        const { view, at } = piece;
        view.setUint32(at, rows[from]!);
        view.setUint32(at + 4, rows[from + lowAt]!);
        putPlace(view, at + 8, rows, from);
        view.setUint32(at + 15, rows[from + idAt]!);
        if (piece.next()) yield piece.take();
      }
    }
    yield piece.take();
  }

  /** The rows that have this word, in its order, and in that of the next where it is the first. Each bucket holds until the next is asked for. */
  *#buckets(word: number): Generator<Bucket> {
    const { rows, ends, shift } = this.#deal(word);
    const largest = ends.reduce((most, end, i) => Math.max(most, end - (ends[i - 1] ?? 0)), 0);
    const [keys, order] = [new Uint32Array(largest), new Uint32Array(largest)];
    for (let bucket = 0, first = 0; bucket < ends.length; bucket++) {
      const count = ends[bucket]! - first;
      const [key, places] = [keys.subarray(0, count), order.subarray(0, count)];
      // What all have in common is left out.
      for (let i = 0, at = first * words + word; i < count; i++, at += words)
        key[i] = word === 0 ? (rows[at]! << bucketBits) | (rows[at + lowAt]! >>> shift) : rows[at]! << (32 - shift);
      const start = first;
      const low = (place: number): number => rows[(start + place) * words + lowAt]!;
      orderOfWords(key, places, word === 0 ? (a, b) => low(a) - low(b) : () => 0);
      yield { rows, first, order: places };
      first += count;
    }
  }

  /** Deals rows by the leading bits of a word; without an id none is dealt by it. @returns the rows, and where those of each bucket end */
  #deal(word: number): { rows: Uint32Array; ends: Uint32Array; shift: number } {
    const [rows, end] = [this.#rows, this.#count * words];
    let most = word === 0 ? 0xffffffff : 0;
    if (word !== 0)
      for (let at = word; at < end; at += words) if (rows[at] !== noId && rows[at]! > most) most = rows[at]!;
    const shift = Math.max(0, 32 - Math.clz32(most) - bucketBits);
    const ends = new Uint32Array(1 << bucketBits);
    const isDealt = (value: number): boolean => word === 0 || value !== noId;
    for (let at = word; at < end; at += words) if (isDealt(rows[at]!)) ends[rows[at]! >>> shift]! += 1;
    for (let i = 1; i < ends.length; i++) ends[i]! += ends[i - 1]!;
    if (this.#memory.length < end) this.#memory = new Uint32Array(end);
    const [next, dealt] = [ends.slice(), this.#memory];
    // From the last to the first, so that what begins alike stays in its order.
    for (let from = end - words; from >= 0; from -= words) {
      if (!isDealt(rows[from + word]!)) continue;
      const bucket = rows[from + word]! >>> shift;
      const row = next[bucket]! - 1;
      next[bucket] = row;
      for (let i = 0, to = row * words; i < words; i++, to++) dealt[to] = rows[from + i]!;
    }
    return { rows: dealt, ends, shift };
  }
}

/** Rows of a look-up file that are handed on together. */
class Piece {
  /** Where the next row goes. */
  at = 0;
  readonly view: DataView;
  readonly #stride: number;
  readonly #bytes: Uint8Array;

  constructor(stride: number) {
    this.#stride = stride;
    this.#bytes = new Uint8Array(rowsOfPiece * stride);
    this.view = new DataView(this.#bytes.buffer);
  }

  /** Goes on behind a row. @returns whether the piece is full */
  next(): boolean {
    this.at += this.#stride;
    return this.at === this.#bytes.length;
  }

  /** The rows so far, which hold until there is another. */
  take(): Uint8Array {
    const rows = this.#bytes.subarray(0, this.at);
    this.at = 0;
    return rows;
  }
}

/** An offset u40 and a size u16. */
function putPlace(view: DataView, at: number, rows: Uint32Array, from: number): void {
  const size = rows[from + sizeAt]!;
  view.setUint8(at, size >>> sizeBits);
  view.setUint32(at + 1, rows[from + offsetAt]!);
  view.setUint16(at + 5, size);
}

/** Of sorted rows of BASE.ids, in pieces, only the last of an id stays. */
function* lastOfEach(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let held: Uint8Array | undefined;
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += idStride) {
      const row = piece.subarray(at, at + idStride);
      if (held !== undefined && u32At(held, 0) !== u32At(row, 0)) yield held;
      held = row;
    }
  }
  if (held !== undefined) yield held;
}
