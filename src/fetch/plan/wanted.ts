import { asBuffer, compareBytes, compareKeys } from '../../core/bytes.ts';
import { sortRecords } from '../../core/sorting/sort-records.ts';
import { largeBytes } from '../../core/tables/large-bytes.ts';
import { RecordTable } from '../../core/tables/record-table.ts';

/*
 * Entries that are wanted, as bytes: three million of them are 81 MB, not a gigabyte of objects.
 *
 *   0   key  ekey
 *   16  u40  encoded size
 *   21  u8   download priority + 128: lower is sooner
 *   22       0: room for the place of the entry, once that is found (placed-entries.ts)
 */
export const wantedStride = 27;
const priorityAt = 21;
const priorityBias = 128;

/** The priority of entries that no download manifest ranks. */
export const defaultPriority = 0;
/** The priority of manifests: before any file. */
export const manifestPriority = -128;

/** Gathers wanted entries; the same ekey may come more than once. Entries that come in the order of their ekeys are not sorted again. */
export class WantedList {
  #bytes: Uint8Array;
  #count = 0;
  /** Rows at the front that are in order, each ekey once. */
  #inOrder = 0;

  /** @param expected about as many entries will come */
  constructor(expected = 1024) {
    this.#bytes = largeBytes(wantedStride * Math.max(expected, 1));
  }

  add(ekey: Uint8Array, size: number, priority = defaultPriority): void {
    this.addAt(ekey, 0, size, priority);
  }

  /** As {@link add}, for an ekey that lies at an offset of some bytes: no view is made of it. */
  addAt(keys: Uint8Array, keyAt: number, size: number, priority = defaultPriority): void {
    const at = this.#count * wantedStride;
    if (at === this.#bytes.length) this.#grow();
    const bytes = this.#bytes;
    for (let i = 0; i < 16; i++) bytes[at + i] = keys[keyAt + i]!;
    bytes[at + 16] = size / 0x1_0000_0000;
    bytes[at + 17] = size >>> 24;
    bytes[at + 18] = size >>> 16;
    bytes[at + 19] = size >>> 8;
    bytes[at + 20] = size;
    bytes[at + priorityAt] = biased(priority);
    const goesOn = this.#inOrder === this.#count;
    if (goesOn && (at === 0 || compareKeys(bytes, at - wantedStride, bytes, at) < 0)) this.#inOrder += 1;
    this.#count += 1;
  }

  #grow(): void {
    const grown = largeBytes(this.#bytes.length * 2);
    grown.set(this.#bytes);
    this.#bytes = grown;
  }

  /** The rows that came in order, before the first that did not; they are there until another is added. */
  inOrder(): RecordTable {
    return new RecordTable(this.#bytes, wantedStride, this.#inOrder);
  }

  /** Sorted by ekey, each ekey once, with the soonest of its priorities. Nothing may be added afterwards. */
  sorted(): RecordTable {
    const rest = this.#bytes.subarray(this.#inOrder * wantedStride, this.#count * wantedStride);
    const count = mergeInto(this.inOrder(), onceEach(sortRecords(rest, wantedStride, wantedStride)));
    return new RecordTable(this.#bytes.subarray(0, count * wantedStride), wantedStride);
  }
}

/** Of sorted rows the first of each ekey, where they are. */
function onceEach(sorted: Uint8Array): RecordTable {
  const { bytes, count } = new RecordTable(sorted, wantedStride);
  let kept = 0;
  for (let row = 0; row < count; row++) {
    const at = row * wantedStride;
    if (kept > 0 && compareKeys(bytes, (kept - 1) * wantedStride, bytes, at) === 0) continue;
    if (kept !== row) bytes.copyWithin(kept * wantedStride, at, at + wantedStride);
    kept += 1;
  }
  return new RecordTable(bytes, wantedStride, kept);
}

/** The place of a row that is not added. */
const nowhere = 0xffff_ffff;

/**
 * Puts sorted rows between others, behind which there is room for them. Of an ekey that both have the lesser row stays.
 * @returns how many rows they are then
 */
function mergeInto({ bytes, count }: RecordTable, rows: RecordTable): number {
  const places = new Uint32Array(rows.count).fill(nowhere);
  let at = 0;
  let added = 0;
  for (let row = 0; row < rows.count; row++) {
    const from = row * wantedStride;
    while (at < count && compareKeys(bytes, at * wantedStride, rows.bytes, from) < 0) at++;
    if (at < count && compareKeys(bytes, at * wantedStride, rows.bytes, from) === 0) {
      const own = bytes.subarray(at * wantedStride, (at + 1) * wantedStride);
      if (compareBytes(rows.at(row), own) < 0) own.set(rows.at(row));
    } else {
      places[row] = at;
      added += 1;
    }
  }
  // From the last on, so that each row moves once.
  let end = count;
  let left = added;
  for (let row = rows.count - 1; left > 0; row--) {
    const place = places[row]!;
    if (place === nowhere) continue;
    bytes.copyWithin((place + left) * wantedStride, place * wantedStride, end * wantedStride);
    left -= 1;
    bytes.set(rows.at(row), (place + left) * wantedStride);
    end = place;
  }
  return count + added;
}

/** The fields of a row. */
export function wantedRow(row: Uint8Array): { ekey: Uint8Array; size: number; priority: number } {
  const view = asBuffer(row);
  return { ekey: row.subarray(0, 16), size: view.readUIntBE(16, 5), priority: view[priorityAt]! - priorityBias };
}

/** The priority of a row. */
export function wantedPriority({ bytes, stride }: RecordTable, row: number): number {
  return bytes[row * stride + priorityAt]! - priorityBias;
}

/** Gives a row another priority; -128 is for those that come before all others. */
export function setWantedPriority({ bytes, stride }: RecordTable, row: number, priority: number): void {
  bytes[row * stride + priorityAt] = Math.max(1, biased(priority));
}

function biased(priority: number): number {
  return Math.max(0, Math.min(255, priority + priorityBias));
}
