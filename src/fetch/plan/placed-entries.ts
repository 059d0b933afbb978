import type { PagedIndex } from '../../builds/indices/paged-index.ts';
import { copyRecord, toHex, viewOf } from '../../core/bytes.ts';
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
 *   11  key  ekey
 */
const stride = 27;
const keyAt = 11;
const keySize = 16;
const placeSize = 6;
const priorityBias = 128;
/** Rows of a piece of those that were found. */
const fewestInPiece = 64;
const mostInPiece = 1 << 18;

/** Wanted entries that lie in archives: where, whatever of them is held. So one table is planned from as often as need be. */
export class PlacedEntries {
  /** Wanted entries that no archive has: rows of a WantedList, sorted by ekey. */
  readonly loose: RecordTable;
  readonly #rows: RecordTable;
  readonly #view: DataView;

  /** {@link placeEntries} makes them. @param rows as they were found, in pieces, whose memory is given back */
  constructor(loose: RecordTable, rows: readonly Uint8Array[]) {
    this.loose = loose;
    this.#rows = new RecordTable(sortTaken(rows, stride, placeSize), stride);
    this.#view = viewOf(this.#rows.bytes);
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

  /** Where the ekey lies in {@link keys}. */
  keyOffset(row: number): number {
    return row * stride + keyAt;
  }

  /** Bytes with the ekeys of all entries. */
  get keys(): DataView {
    return this.#view;
  }

  /** Hex. */
  ekey(row: number): string {
    const at = this.keyOffset(row);
    return toHex(this.#rows.bytes.subarray(at, at + keySize));
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
  const rows = new PlacedRows(wanted);
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
    rows.add(row, archive, offset, size);
  });
  if (matches !== undefined) yield* matches;
  skipTo(wanted.count);
  return new PlacedEntries(rowsOf(wanted, loose), rows.pieces());
}

/** Some rows of a table, copied. */
function rowsOf(table: RecordTable, rows: readonly number[]): RecordTable {
  const bytes = largeBytes(rows.length * table.stride);
  for (const [i, row] of rows.entries()) bytes.set(table.at(row), i * table.stride);
  return new RecordTable(bytes, table.stride);
}

/** Rows that were found, in pieces. */
class PlacedRows {
  readonly #wanted: RecordTable;
  readonly #keys: DataView;
  readonly #pieces: Uint8Array[] = [];
  #view = new DataView(new ArrayBuffer(0));
  #size = 0;

  constructor(wanted: RecordTable) {
    this.#wanted = wanted;
    this.#keys = viewOf(wanted.bytes);
  }

  add(row: number, archive: number, offset: number, size: number): void {
    if (this.#size === this.#view.byteLength) this.#grow();
    const at = this.#size;
    const view = this.#view;
    view.setUint16(at, archive);
    view.setUint32(at + 2, offset);
    view.setUint32(at + 6, size);
    view.setUint8(at + 10, wantedPriority(this.#wanted, row) + priorityBias);
    copyRecord(this.#keys, row * this.#wanted.stride, { target: view, to: at + keyAt, size: keySize });
    this.#size += stride;
  }

  #grow(): void {
    const rows = Math.min(mostInPiece, Math.max(fewestInPiece, (2 * this.#size) / stride));
    const piece = largeBytes(rows * stride);
    this.#pieces.push(piece);
    this.#view = viewOf(piece);
    this.#size = 0;
  }

  /** All of them. Nothing may be added afterwards. */
  pieces(): Uint8Array[] {
    const last = this.#pieces.pop();
    return last === undefined ? [] : [...this.#pieces, last.subarray(0, this.#size)];
  }
}
