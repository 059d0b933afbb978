import type { PagedIndex } from '../../builds/indices/paged-index.ts';
import { asBuffer } from '../../core/bytes.ts';
import { largeBytes } from '../../core/tables/large-bytes.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import { sortTaken } from '../../core/tables/sort-records.ts';
import { wantedPriority } from './wanted.ts';

/*
 * Wanted entries of archives with their places, as bytes, sorted by archive and offset:
 *
 *   0   u16  archive
 *   2   u32  offset
 *   6   u32  size
 *   10  u8   priority + 128
 *   11  u32  row in the table of what is wanted
 */
const stride = 15;
const placeSize = 6;
const priorityBias = 128;
/** Rows of a piece of those that were found. */
const fewestInPiece = 64;
const mostInPiece = 1 << 18;

/** Wanted entries that lie in archives: where, whatever of them is held. So one table is planned from as often as need be. */
export class PlacedEntries {
  /** Rows of a WantedList, sorted by ekey. */
  readonly wanted: RecordTable;
  /** Rows of {@link wanted} that no archive has. */
  readonly loose: readonly number[];
  readonly #rows: RecordTable;
  readonly #view: DataView;
  readonly #keys: Buffer;

  /** {@link placeEntries} makes them. @param rows as they were found, in pieces, whose memory is given back */
  constructor(wanted: RecordTable, loose: readonly number[], rows: readonly Uint8Array<ArrayBuffer>[]) {
    this.wanted = wanted;
    this.#keys = asBuffer(wanted.bytes);
    this.loose = loose;
    this.#rows = new RecordTable(sortTaken(rows, stride, placeSize), stride);
    const { buffer, byteOffset, byteLength } = this.#rows.bytes;
    this.#view = new DataView(buffer, byteOffset, byteLength);
  }

  get count(): number {
    return this.#rows.count;
  }

  archive(row: number): number {
    return this.#view.getUint16(row * stride);
  }

  offset(row: number): number {
    return this.#view.getUint32(row * stride + 2);
  }

  /** Encoded size. */
  size(row: number): number {
    return this.#view.getUint32(row * stride + 6);
  }

  priority(row: number): number {
    return this.#view.getUint8(row * stride + 10) - priorityBias;
  }

  /** Where the ekey lies in the bytes of {@link wanted}. */
  keyOffset(row: number): number {
    return this.#view.getUint32(row * stride + 11) * this.wanted.stride;
  }

  /** Hex. */
  ekey(row: number): string {
    const at = this.keyOffset(row);
    return this.#keys.toString('hex', at, at + 16);
  }
}

/**
 * Finds the places of wanted entries, a step at a time.
 * @param wanted rows of a WantedList, sorted by ekey
 * @param group all entries of the build's archives; undefined where it has none
 * @param everyCopy every copy of an entry that several archives have, not the first alone: for archives that are to be whole
 * @throws E_FORMAT_CHECKSUM when the group is damaged
 */
export function* placeEntries(
  wanted: RecordTable,
  group: Pick<PagedIndex, 'matches'> | undefined,
  everyCopy: boolean,
): Generator<void, PlacedEntries> {
  const rows = new PlacedRows();
  const loose: number[] = [];
  /** The row of the last entry: another copy of it may follow. */
  let last = -1;
  const skipTo = (row: number): void => {
    for (let skipped = last + 1; skipped < row; skipped++) loose.push(skipped);
  };
  const matches = group?.matches(wanted, (row, archive, offset, size) => {
    if (row === last && !everyCopy) return;
    skipTo(row);
    last = row;
    rows.add({ archive, offset, size, priority: wantedPriority(wanted, row), row });
  });
  if (matches !== undefined) yield* matches;
  skipTo(wanted.count);
  return new PlacedEntries(wanted, loose, rows.pieces());
}

/** Rows that were found, in pieces. */
class PlacedRows {
  readonly #pieces: Uint8Array<ArrayBuffer>[] = [];
  #view = new DataView(new ArrayBuffer(0));
  #size = 0;

  add(place: { archive: number; offset: number; size: number; priority: number; row: number }): void {
    if (this.#size === this.#view.byteLength) this.#grow();
    const at = this.#size;
    const view = this.#view;
    view.setUint16(at, place.archive);
    view.setUint32(at + 2, place.offset);
    view.setUint32(at + 6, place.size);
    view.setUint8(at + 10, place.priority + priorityBias);
    view.setUint32(at + 11, place.row);
    this.#size += stride;
  }

  #grow(): void {
    const rows = Math.min(mostInPiece, Math.max(fewestInPiece, (2 * this.#size) / stride));
    const piece = largeBytes(rows * stride);
    this.#pieces.push(piece);
    this.#view = new DataView(piece.buffer, 0, piece.length);
    this.#size = 0;
  }

  /** All of them. Nothing may be added afterwards. */
  pieces(): Uint8Array<ArrayBuffer>[] {
    const last = this.#pieces.pop();
    return last === undefined ? [] : [...this.#pieces, last.subarray(0, this.#size)];
  }
}
