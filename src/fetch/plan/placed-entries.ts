import type { PagedIndex } from '../../builds/indices/paged-index.ts';
import { toHex, viewOf } from '../../core/bytes.ts';
import { sortInPlace } from '../../core/sorting/sort-records.ts';
import { giveBack, largeBytes } from '../../core/tables/large-bytes.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import { ByteWriter } from '../../core/writer.ts';
import { wantedPriority, wantedStride } from './wanted.ts';

/*
 * Wanted entries of archives with their places, as bytes, sorted by archive and offset. A row is as large as that of a wanted entry, whose memory it takes:
 *
 *   0   u16  archive
 *   2   u32  offset
 *   6   u32  size
 *   10  u8   priority + 128
 *   11  key  ekey
 */
const stride = wantedStride;
const keyAt = 11;
const keySize = 16;
const priorityBias = 128;

/** Wanted entries that lie in archives: where, whatever of them is held. So one table is planned from as often as need be. */
export class PlacedEntries {
  /** Wanted entries that no archive has: rows of a WantedList, sorted by ekey. */
  readonly loose: RecordTable;
  readonly #rows: RecordTable;
  readonly #view: DataView;

  /** {@link placeEntries} makes them. @param rows in any order; they are sorted where they are */
  constructor(loose: RecordTable, rows: Uint8Array) {
    this.loose = loose;
    sortInPlace(rows, stride);
    this.#rows = new RecordTable(rows, stride);
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

  /** Gives the memory back: of what is in archives nothing may be asked any more, nor the targets of what was planned from it. */
  giveBack(): void {
    giveBack(this.#rows.bytes);
  }
}

/**
 * Finds the places of wanted entries, a step at a time.
 * @param wanted rows of a WantedList, sorted by ekey; their memory is that of the result, and they are gone
 * @param group all entries of the build's archives; undefined where it has none
 * @param everyCopy every copy of an entry that several archives have, not the first alone: for archives that are to be whole
 * @throws E_FORMAT_CHECKSUM when the group is damaged
 */
export function* placeEntries(
  wanted: RecordTable,
  group: Pick<PagedIndex, 'matches'> | undefined,
  everyCopy: boolean,
): Generator<void, PlacedEntries> {
  if (group === undefined) return new PlacedEntries(wanted, new Uint8Array());
  const rows = new FoundRows(wanted);
  yield* group.matches(wanted, (row, archive, offset, size) => {
    if (row !== rows.last) rows.add(row, archive, offset, size);
    else if (everyCopy) rows.addCopy(archive, offset, size);
  });
  return rows.end();
}

/** Rows of wanted entries, found one after the other, which become those of placed ones. In memory of their own these would be there beside them: 81 MB of three million. */
class FoundRows {
  /** The row that was found last. */
  last = -1;
  readonly #wanted: RecordTable;
  readonly #view: DataView;
  readonly #loose = new ByteWriter();
  readonly #copies = new ByteWriter();
  #count = 0;
  /** The place of the last row, which is written when the next was found: until then whoever finds looks at the row. */
  #archive = 0;
  #offset = 0;
  #size = 0;

  constructor(wanted: RecordTable) {
    this.#wanted = wanted;
    this.#view = viewOf(wanted.bytes);
  }

  /** Takes the place of a row. Those before it that were not found are loose objects. */
  add(row: number, archive: number, offset: number, size: number): void {
    this.#goTo(row);
    this.#archive = archive;
    this.#offset = offset;
    this.#size = size;
  }

  /** Takes another place of the last row. */
  addCopy(archive: number, offset: number, size: number): void {
    const copy = new Uint8Array(stride);
    this.#write(viewOf(copy), 0, { archive, offset, size });
    this.#copies.raw(copy);
  }

  end(): PlacedEntries {
    this.#goTo(this.#wanted.count);
    const found = this.#wanted.bytes.subarray(0, this.#count * stride);
    const copies = this.#copies.bytes();
    const loose = new RecordTable(this.#loose.bytes(), this.#wanted.stride);
    if (copies.length === 0) return new PlacedEntries(loose, found);
    const all = largeBytes(found.length + copies.length);
    all.set(found);
    all.set(copies, found.length);
    return new PlacedEntries(loose, all);
  }

  /** Writes the last row, and goes on to another. */
  #goTo(row: number): void {
    if (this.last >= 0) {
      const place = { archive: this.#archive, offset: this.#offset, size: this.#size };
      this.#write(this.#view, this.#count * stride, place);
      this.#count += 1;
    }
    for (let loose = this.last + 1; loose < row; loose++) this.#loose.raw(this.#wanted.at(loose));
    this.last = row;
  }

  #write(
    target: DataView,
    to: number,
    { archive, offset, size }: { archive: number; offset: number; size: number },
  ): void {
    const from = this.last * stride;
    const priority = wantedPriority(this.#wanted, this.last) + priorityBias;
    // All of the key before any is written: it may be the same row.
    const key = this.#view;
    const [a, b, c, d] = [
      key.getUint32(from),
      key.getUint32(from + 4),
      key.getUint32(from + 8),
      key.getUint32(from + 12),
    ];
    target.setUint16(to, archive);
    target.setUint32(to + 2, offset);
    target.setUint32(to + 6, size);
    target.setUint8(to + 10, priority);
    target.setUint32(to + keyAt, a);
    target.setUint32(to + keyAt + 4, b);
    target.setUint32(to + keyAt + 8, c);
    target.setUint32(to + keyAt + 12, d);
  }
}
