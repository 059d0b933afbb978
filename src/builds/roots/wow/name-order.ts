import { breathe } from '../../../core/breathe.ts';
import { asBuffer } from '../../../core/bytes.ts';
import type { IdSet } from '../../../core/tables/id-set.ts';
import { RecordTable } from '../../../core/tables/record-table.ts';
import { ByteWriter } from '../../../core/writer.ts';
import { SortedRuns } from '../../../files/sorted-runs.ts';
import { openDerived } from '../../../store/derived/derived-file.ts';
import { LookupFile, writeLookupFile } from '../../../store/derived/lookup-file.ts';
import type { ListfileIndex } from '../../listfile/listfile-index.ts';
import type { NamePlace } from '../../listfile/listfile-text.ts';

/*
 * The rows of a root with ids in the order of their names, under names/<ckey of the root>.order:
 *
 *   u40 offset of the name in the imported list, u32 file data id, u32 row, u16 bytes of the name, u8 1 where the list has another name    sorted
 *
 * The list is sorted by name, so its offsets are. What has no name has an offset of ff…ff: it comes last, by id. The file belongs to one version of
 * the list and one file of ids, and is made when all names are first listed.
 */
const stride = 16;
const keySize = 13;
const misfitAt = 15;
const noName = 0xff_ffff_ffff;
/** Rows that are gone through before the clock is looked at. */
const rowsPerTurn = 256;

/** A row of a root, as it is listed. */
export interface OrderedRow {
  fileDataId: number;
  row: number;
  /** Undefined for a file without a name. */
  place: NamePlace | undefined;
  /** The list has a name for the id that is not that of the file. */
  isMisfit: boolean;
}

/** The list and the ids that an order is made of, and where it goes. */
interface OrderPlace {
  /** The file without its ending. */
  base: string;
  temporary: string;
  names: ListfileIndex;
  ids: LookupFile;
}

/** Opens the order of a root; it is made of `rows`, in any order, when it is not there. It is not checked. Needs `close`. */
export function openNameOrder(
  { base, temporary, names, ids }: OrderPlace,
  rows: () => Promise<Iterable<OrderedRow>>,
): Promise<LookupFile> {
  const path = `${base}.order`;
  const of = (names.mark ^ ids.mark) >>> 0;
  const open = (): LookupFile => new LookupFile(path, { stride, of });
  return openDerived(open, async () => writeOrder(path, { temporary, of }, await rows()));
}

async function writeOrder(
  path: string,
  { temporary, of }: { temporary: string; of: number },
  rows: Iterable<OrderedRow>,
): Promise<void> {
  const runs = new SortedRuns(temporary, { stride, keySize });
  try {
    let count = 0;
    for (const { fileDataId, row, place, isMisfit } of rows) {
      const record = runs.add();
      record.writeUIntBE(place?.at ?? noName, 0, 5);
      record.writeUInt32BE(fileDataId, 5);
      record.writeUInt32BE(row, 9);
      record.writeUInt16BE(place?.size ?? 0, 13);
      record[misfitAt] = Number(isMisfit);
      count += 1;
      if (count % rowsPerTurn === 0) await breathe();
    }
    await writeLookupFile(path, { stride, rows: runs.rows(), of }, temporary);
  } finally {
    runs.close();
  }
}

/** The rows of an order, or of a part of it, sorted by name. For those who checked it. */
export function* orderedRows(tables: Iterable<RecordTable>): Generator<OrderedRow> {
  for (const records of tables) {
    const view = asBuffer(records.bytes);
    for (let at = 0; at < view.length; at += stride) yield orderedRow(view, at);
  }
}

/**
 * The rows of names at some offsets, those without a name, and misfits, for {@link orderedRows}. All of the order is checked.
 * @param offsets ascending
 * @throws E_FORMAT_CHECKSUM
 */
export async function orderedRowsAt(order: LookupFile, offsets: Float64Array): Promise<RecordTable> {
  const found = new ByteWriter();
  let next = 0;
  for (const { bytes } of order.tables()) {
    await breathe();
    next = addRowsAt(bytes, { offsets, next, found });
  }
  return new RecordTable(found.bytes(), stride);
}

/** @param next of the offsets, the first that may be in these rows @returns the first that may be in those behind them */
function addRowsAt(
  bytes: Uint8Array,
  { offsets, next: first, found }: { offsets: Float64Array; next: number; found: ByteWriter },
): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let [next, nextHigh] = [first, high(offsets[first])];
  for (let at = 0; at < bytes.length; at += stride) {
    const offsetHigh = view.getUint32(at);
    // So are almost all.
    if (offsetHigh < nextHigh && view.getUint8(at + misfitAt) === 0) continue;
    const offset = offsetHigh * 0x100 + view.getUint8(at + 4);
    while (offsets[next]! < offset) next += 1;
    nextHigh = high(offsets[next]);
    if (offset === offsets[next] || offset === noName || view.getUint8(at + misfitAt) === 1)
      found.raw(bytes.subarray(at, at + stride));
  }
  return next;
}

/** The first four bytes of an offset; without one, those of no name. */
function high(offset = noName): number {
  return Math.floor(offset / 0x100);
}

/** As {@link orderedRows}, without some ids. */
export function* orderedRowsWithout(order: LookupFile, ids: IdSet): Generator<OrderedRow> {
  for (const records of order.tables()) {
    const view = asBuffer(records.bytes);
    for (let at = 0; at < view.length; at += stride)
      if (!ids.has(view.readUInt32BE(at + 5))) yield orderedRow(view, at);
  }
}

/** Goes through an order file by file, and makes no object of each. For those who checked it. */
export class OrderCursor {
  /** Of the name; that of files without one is behind all others. */
  offset = -1;
  fileDataId = 0;
  isMisfit = false;
  /** The rows of the file: they hold until the next one. */
  readonly rows: number[] = [];
  readonly #tables: Iterator<RecordTable>;
  #view: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(order: LookupFile) {
    this.#tables = order.tables();
  }

  /** Goes to the next file; false at the end. */
  next(): boolean {
    if (!this.#hasRow()) return false;
    this.offset = this.#view.readUInt32BE(this.#at) * 0x100 + this.#view[this.#at + 4]!;
    this.fileDataId = this.#view.readUInt32BE(this.#at + 5);
    this.isMisfit = this.#view[this.#at + misfitAt] === 1;
    this.rows.length = 0;
    do {
      this.rows.push(this.#view.readUInt32BE(this.#at + 9));
      this.#at += stride;
    } while (this.#hasRow() && this.#view.readUInt32BE(this.#at + 5) === this.fileDataId);
    return true;
  }

  #hasRow(): boolean {
    if (this.#at < this.#view.length) return true;
    const table = this.#tables.next();
    if (table.done === true) return false;
    this.#view = asBuffer(table.value.bytes);
    this.#at = 0;
    return true;
  }
}

function orderedRow(view: Buffer, at: number): OrderedRow {
  const offset = view.readUIntBE(at, 5);
  return {
    fileDataId: view.readUInt32BE(at + 5),
    row: view.readUInt32BE(at + 9),
    place: offset === noName ? undefined : { at: offset, size: view.readUInt16BE(at + 13) },
    isMisfit: view[at + misfitAt] === 1,
  };
}
