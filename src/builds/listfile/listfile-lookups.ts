import { u32At } from '../../core/bytes.ts';
import { putNameHash, type ViewPart } from '../../core/jenkins.ts';
import { sortNumbers } from '../../core/tables/sort-numbers.ts';
import { SortedRuns } from '../../files/sorted-runs.ts';
import { writeLookupFile } from '../../store/derived/lookup-file.ts';
import type { LookupFolders } from '../../store/layout.ts';
import { listfilePaths, listfileRows } from './listfile-paths.ts';
import type { NamePlace } from './listfile-text.ts';

const { idStride, hashStride, noId } = listfileRows;

/** Words of a row in memory: both halves of the hash, the offset of the name, the rest of that above its bytes, the id. */
const words = 5;
const [lowAt, offsetAt, sizeAt, idAt] = [1, 2, 3, 4];
/** Words for each row while they are sorted: one of its own, and three of {@link sortNumbers}. */
const wordsToSort = 4;
/** Where an offset goes on in the word of the size. */
const sizeBits = 16;
/** Rows that are in memory at most. */
const mostRows = 1 << 22;
/** Rows of a look-up file that are handed on at a time. */
const rowsOfPiece = 1 << 12;

/** Writes a row of a look-up file; see {@link listfilePaths}. */
type PutRow = (view: DataView, at: number, place: { rows: Uint32Array; from: number }) => void;

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
    const size = this.#count * wordsToSort;
    if (memory !== undefined && memory.byteLength >= size * 4) this.#memory = new Uint32Array(memory, 0, size);
    if (this.#runs !== undefined) this.#spill();
    const ids = this.#runs === undefined ? this.#idPieces() : lastOfEach(this.#runs.ids.pieces());
    await writeLookupFile(paths.ids, { stride: idStride, rows: ids, of }, temporary, signal);
    const hashes = this.#runs?.hashes.pieces() ?? this.#hashPieces();
    await writeLookupFile(paths.hashes, { stride: hashStride, rows: hashes, of }, temporary, signal);
  }

  /** The rows by their ids, the last of each. */
  #idPieces(): Generator<Uint8Array> {
    const [ids, memory] = this.#column(idAt);
    const order = sortNumbers(ids, memory);
    let count = 0;
    for (let i = 0; i < order.length && ids[i] !== noId; i++) {
      if (ids[i + 1] !== ids[i]) order[count++] = order[i]!;
    }
    return this.#pieces(order.subarray(0, count), idStride, (view, at, { rows, from }) => {
      view.setUint32(at, rows[from + idAt]!);
      putPlace(view, at + 4, rows, from);
      view.setUint32(at + 11, rows[from]!);
      view.setUint32(at + 15, rows[from + lowAt]!);
    });
  }

  /** The rows by their hashes. */
  #hashPieces(): Generator<Uint8Array> {
    const [halves, memory] = this.#column(0);
    const order = sortNumbers(halves, memory);
    for (let i = 0; i < order.length; ) {
      let end = i + 1;
      while (end < order.length && halves[end] === halves[i]) end += 1;
      // Few hashes have a half in common.
      if (end - i > 1) order.subarray(i, end).sort((a, b) => this.#lowHalf(a) - this.#lowHalf(b) || a - b);
      i = end;
    }
    return this.#pieces(order, hashStride, (view, at, { rows, from }) => {
      view.setUint32(at, rows[from]!);
      view.setUint32(at + 4, rows[from + lowAt]!);
      putPlace(view, at + 8, rows, from);
      view.setUint32(at + 15, rows[from + idAt]!);
    });
  }

  #lowHalf(row: number): number {
    return this.#rows[row * words + lowAt]!;
  }

  /** A word of every row, and memory to sort them. Both hold until it is called again. */
  #column(word: number): [column: Uint32Array, memory: Uint32Array] {
    const count = this.#count;
    if (this.#memory.length < count * wordsToSort) this.#memory = new Uint32Array(count * wordsToSort);
    const column = this.#memory.subarray(0, count);
    for (let i = 0, at = word; i < count; i++, at += words) column[i] = this.#rows[at]!;
    return [column, this.#memory.subarray(count)];
  }

  /** Rows of a look-up file; each piece holds until the next is asked for. */
  *#pieces(order: Uint32Array, stride: number, put: PutRow): Generator<Uint8Array> {
    const piece = new Uint8Array(Math.min(rowsOfPiece, order.length) * stride);
    const view = new DataView(piece.buffer);
    const place = { rows: this.#rows, from: 0 };
    for (let first = 0; first < order.length; first += rowsOfPiece) {
      const count = Math.min(rowsOfPiece, order.length - first);
      for (let i = 0; i < count; i++) {
        place.from = order[first + i]! * words;
        put(view, i * stride, place);
      }
      yield piece.subarray(0, count * stride);
    }
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
