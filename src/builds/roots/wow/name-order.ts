import { breathe } from '../../../core/breathe.ts';
import { asBuffer, u32At } from '../../../core/bytes.ts';
import { codeOf, resultUnless } from '../../../core/errors.ts';
import type { IdSet } from '../../../core/tables/id-set.ts';
import type { RecordTable } from '../../../core/tables/record-table.ts';
import type { ByteWriter } from '../../../core/writer.ts';
import { SortedRuns } from '../../../files/sorted/sorted-runs.ts';
import { isLacking, openDerived, readDerived } from '../../../store/derived/derived-file.ts';
import { writeDerived } from '../../../store/derived/derived-writer.ts';
import { LookupFile, writeLookupFile } from '../../../store/derived/lookup-file.ts';
import type { ListfileIndex } from '../../listfile/listfile-index.ts';
import type { NamePlace } from '../../listfile/listfile-text.ts';
import type { FieldPlace } from './row-windows.ts';

/*
 * The rows of a root with ids in the order of their names, under names/<ckey of the root>.order:
 *
 *   u40 offset of the name in the imported list, u32 file data id, u32 row, u16 bytes of the name, u8 1 where the list has another name, ckey [16]    sorted
 *
 * The ckey is there where the rows of the root have nothing else that is listed: who goes by names would look all over the root for it.
 * The list is sorted by name, so its offsets are. What has no name has an offset of ff…ff: it comes last, by id. The file belongs to one version of
 * the list and one file of ids, and is made when all names are first listed.
 */
const ckeyAt = 16;
/** Bytes of a ckey. */
export const ckeySize = 16;
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
  /** Where its ckey lies; absent where the order has none. */
  ckey?: FieldPlace | undefined;
}

/** The list and the ids that an order is made of, and where it goes. */
interface OrderPlace {
  /** The file without its ending. */
  base: string;
  temporary: string;
  names: ListfileIndex;
  ids: LookupFile;
  /** The rows have their ckeys. */
  hasCkeys: boolean;
}

/** Opens the order of a root; it is made of `rows`, in any order, when it is not there. It is not checked. Needs `close`. */
export function openNameOrder(
  { base, temporary, names, ids, hasCkeys }: OrderPlace,
  rows: () => Promise<Iterable<OrderedRow>>,
): Promise<LookupFile> {
  const path = `${base}.order`;
  const stride = hasCkeys ? ckeyAt + ckeySize : ckeyAt;
  // Earlier versions had no ckeys in any, and pages have the same size.
  const of = (names.mark ^ ids.mark ^ (stride - ckeyAt)) >>> 0;
  const open = (): LookupFile => new LookupFile(path, { stride, of });
  return openDerived(open, async () => writeOrder(path, { temporary, of, stride }, await rows()));
}

async function writeOrder(
  path: string,
  { temporary, of, stride }: { temporary: string; of: number; stride: number },
  rows: Iterable<OrderedRow>,
): Promise<void> {
  const runs = new SortedRuns(temporary, { stride, keySize });
  try {
    let count = 0;
    for (const { fileDataId, row, place, isMisfit, ckey } of rows) {
      const record = runs.add();
      record.writeUIntBE(place?.at ?? noName, 0, 5);
      record.writeUInt32BE(fileDataId, 5);
      record.writeUInt32BE(row, 9);
      record.writeUInt16BE(place?.size ?? 0, 13);
      record[misfitAt] = Number(isMisfit);
      if (ckey !== undefined) record.set(ckey.of.bytes.subarray(ckey.at, ckey.at + ckeySize), ckeyAt);
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
    for (let at = 0; at < records.bytes.length; at += records.stride) yield orderedRow(records, at);
  }
}

/**
 * How many files there are of which the list has another name. It is counted once, and written beside the order.
 * @throws E_FORMAT_CHECKSUM
 */
export async function misfitsOf(
  order: LookupFile,
  { base, temporary }: { base: string; temporary: string },
): Promise<number> {
  const path = `${base}.misfits`;
  const counted = resultUnless(isLacking, () => Number(asBuffer(readDerived(path, { of: order.mark })).toString()));
  if (counted !== undefined) return counted;
  const misfits = await countMisfits(order);
  // A store may be one that is only read: then it is counted each time.
  const isStoreTrouble = (error: unknown): boolean => ['E_STORE', 'E_STORE_FULL'].includes(codeOf(error) ?? '');
  resultUnless(isStoreTrouble, () => writeDerived(path, Buffer.from(`${misfits}`), temporary, { of: order.mark }));
  return misfits;
}

/**
 * Adds the rows of names at some offsets. What is read of the order is checked: only where these rows are.
 * @param offsets ascending
 * @throws E_FORMAT_CHECKSUM
 */
export async function addRowsAt(order: LookupFile, offsets: Float64Array, found: ByteWriter): Promise<void> {
  if (offsets.length < fewOffsets) {
    for (const offset of offsets) for (const row of order.find(keyOf(offset))) found.raw(row);
  } else await addRowsAlong(order, offsets, found);
}

/** The rows of an order that have no name, checked. @throws E_FORMAT_CHECKSUM */
export function unnamedRows(order: LookupFile): Uint8Array {
  const first = firstRowFrom(order, noName);
  return order.rows(first, order.count - first).bytes;
}

/** The first row of an order whose name lies at an offset or behind it. @throws E_FORMAT_CHECKSUM */
export function firstRowFrom(order: LookupFile, offset: number): number {
  return order.lowerBound(keyOf(offset));
}

/** Up to so many names are looked for one by one. */
const fewOffsets = 1000;
/** Rows that are read at a time. */
const rowsOfTable = 1 << 14;

function keyOf(offset: number): Uint8Array {
  const key = Buffer.alloc(5);
  key.writeUIntBE(offset, 0, 5);
  return key;
}

async function countMisfits(order: LookupFile): Promise<number> {
  let [count, last] = [0, -1];
  for (const { bytes } of order.tables()) {
    await breathe();
    for (let at = 0; at < bytes.length; at += order.stride) {
      if (bytes[at + misfitAt] === 0) continue;
      const id = idOfRow(bytes, at);
      if (id !== last) count += 1;
      last = id;
    }
  }
  return count;
}

/** Goes through the rows from the first of the offsets to the last. */
async function addRowsAlong(order: LookupFile, offsets: Float64Array, found: ByteWriter): Promise<void> {
  const end = firstRowFrom(order, offsets.at(-1)! + 1);
  let next = 0;
  for (let first = firstRowFrom(order, offsets[0]!); first < end; first += rowsOfTable) {
    await breathe();
    const { bytes } = order.rows(first, Math.min(rowsOfTable, end - first));
    for (let at = 0; at < bytes.length; at += order.stride) {
      const offset = offsetOfRow(bytes, at);
      while (offsets[next]! < offset) next += 1;
      if (offset === offsets[next]) found.raw(bytes.subarray(at, at + order.stride));
    }
  }
}

/** As {@link orderedRows}, without some ids. */
export function* orderedRowsWithout(order: LookupFile, ids: IdSet): Generator<OrderedRow> {
  for (const records of order.tables()) {
    for (let at = 0; at < records.bytes.length; at += records.stride)
      if (!ids.has(idOfRow(records.bytes, at))) yield orderedRow(records, at);
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
  /** The ckeys of the rows, one behind the other, where the order has them. */
  ckeys = new Uint8Array(ckeySize);
  readonly #tables: Iterator<RecordTable>;
  readonly #stride: number;
  #view: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(order: LookupFile) {
    this.#tables = order.tables();
    this.#stride = order.stride;
  }

  /** Goes to the next file; false at the end. */
  next(): boolean {
    if (!this.#hasRow()) return false;
    this.offset = offsetOfRow(this.#view, this.#at);
    this.fileDataId = idOfRow(this.#view, this.#at);
    this.isMisfit = this.#view[this.#at + misfitAt] === 1;
    this.rows.length = 0;
    do {
      this.#takeCkey(this.rows.push(numberOfRow(this.#view, this.#at)) * ckeySize);
      this.#at += this.#stride;
    } while (this.#hasRow() && idOfRow(this.#view, this.#at) === this.fileDataId);
    return true;
  }

  /** @param end of the ckey among those of the file */
  #takeCkey(end: number): void {
    if (this.#stride === ckeyAt) return;
    if (end > this.ckeys.length) {
      const larger = new Uint8Array(end * 2);
      larger.set(this.ckeys);
      this.ckeys = larger;
    }
    const from = this.#at + ckeyAt;
    for (let i = 0; i < ckeySize; i++) this.ckeys[end - ckeySize + i] = this.#view[from + i]!;
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

/** The id of the file to which a row of an order belongs. */
export function idOfRow(bytes: Uint8Array, at = 0): number {
  return u32At(bytes, at + 5);
}

/** The number that a row of an order has in the root. */
export function numberOfRow(bytes: Uint8Array, at = 0): number {
  return u32At(bytes, at + 9);
}

/** Where the name of a row of an order lies, if it has one. */
export function placeOfRow(bytes: Uint8Array, at = 0): NamePlace {
  return { at: offsetOfRow(bytes, at), size: bytes[at + 13]! * 0x100 + bytes[at + 14]! };
}

function offsetOfRow(bytes: Uint8Array, at: number): number {
  return u32At(bytes, at) * 0x100 + bytes[at + 4]!;
}

function orderedRow(records: RecordTable, at: number): OrderedRow {
  const { bytes, stride } = records;
  const place = placeOfRow(bytes, at);
  return {
    fileDataId: idOfRow(bytes, at),
    row: numberOfRow(bytes, at),
    place: place.at === noName ? undefined : place,
    isMisfit: bytes[at + misfitAt] === 1,
    ckey: stride > ckeyAt ? { of: records, at: at + ckeyAt } : undefined,
  };
}
