import { asBuffer } from '../../core/bytes.ts';
import { RecordTable } from '../../core/tables/record-table.ts';
import { sortRecords } from '../../core/tables/sort-records.ts';

/*
 * Entries that are wanted, as bytes: three million of them are 66 MB, not a gigabyte of objects.
 *
 *   0   key  ekey
 *   16  u40  encoded size
 *   21  u8   download priority + 128: lower is sooner
 */
const wantedStride = 22;
const priorityBias = 128;

/** The priority of entries that no download manifest ranks. */
export const defaultPriority = 0;

/** Gathers wanted entries; the same ekey may come more than once. */
export class WantedList {
  #bytes = Buffer.alloc(wantedStride * 1024);
  #count = 0;

  add(ekey: Uint8Array, size: number, priority = defaultPriority): void {
    const at = this.#count * wantedStride;
    if (at + wantedStride > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], this.#bytes.length * 2);
    const bytes = this.#bytes;
    for (let i = 0; i < 16; i++) bytes[at + i] = ekey[i]!;
    bytes[at + 16] = size / 0x1_0000_0000;
    bytes.writeUInt32BE(size >>> 0, at + 17);
    bytes[at + 21] = biased(priority);
    this.#count += 1;
  }

  /** Sorted by ekey, each ekey once, with the soonest of its priorities. */
  sorted(): RecordTable {
    const added = this.#bytes.subarray(0, this.#count * wantedStride);
    const rows = new RecordTable(sortRecords(added, wantedStride, wantedStride), wantedStride);
    let kept = 0;
    for (let row = 0; row < rows.count; row++) {
      if (kept > 0 && rows.compare(kept - 1, rows.at(row).subarray(0, 16)) === 0) continue;
      if (kept !== row) rows.bytes.copyWithin(kept * wantedStride, row * wantedStride, (row + 1) * wantedStride);
      kept += 1;
    }
    return new RecordTable(rows.bytes.subarray(0, kept * wantedStride), wantedStride);
  }
}

/** The fields of a row. */
export function wantedRow(row: Uint8Array): { ekey: Uint8Array; size: number; priority: number } {
  const view = asBuffer(row);
  return { ekey: row.subarray(0, 16), size: view.readUIntBE(16, 5), priority: wantedPriority(row) };
}

/** The priority of a row. */
export function wantedPriority(row: Uint8Array): number {
  return row[21]! - priorityBias;
}

/** Gives a row another priority; -128 is for those that come before all others. */
export function setWantedPriority(row: Uint8Array, priority: number): void {
  row[21] = Math.max(1, biased(priority));
}

function biased(priority: number): number {
  return Math.max(0, Math.min(255, priority + priorityBias));
}
