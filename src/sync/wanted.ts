import { asBuffer } from '../core/bytes.ts';
import { RecordTable } from '../core/record-table.ts';
import { sortRecords } from '../core/sort-records.ts';

/*
 * Entries that are wanted, as bytes: three million of them are 66 MB, not a gigabyte of objects.
 *
 *   0   key  ekey
 *   16  u40  encoded size
 *   21  u8   download priority + 128: lower is sooner
 */
export const wantedStride = 22;
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
    this.#bytes.set(ekey.subarray(0, 16), at);
    this.#bytes.writeUIntBE(size, at + 16, 5);
    this.#bytes[at + 21] = Math.max(0, Math.min(255, priority + priorityBias));
    this.#count += 1;
  }

  /** Sorted by ekey, each ekey once, with the soonest of its priorities. */
  sorted(): RecordTable {
    const rows = new RecordTable(
      sortRecords(this.#bytes.subarray(0, this.#count * wantedStride), wantedStride, wantedStride),
      wantedStride,
    );
    let kept = 0;
    for (let row = 0; row < rows.count; row++) {
      const bytes = rows.at(row);
      if (kept > 0 && Buffer.compare(rows.at(kept - 1).subarray(0, 16), bytes.subarray(0, 16)) === 0) continue;
      if (kept !== row) rows.bytes.copyWithin(kept * wantedStride, row * wantedStride, (row + 1) * wantedStride);
      kept += 1;
    }
    return new RecordTable(rows.bytes.subarray(0, kept * wantedStride), wantedStride);
  }
}

/** The fields of a row. */
export function wantedRow(row: Uint8Array): { ekey: Uint8Array; size: number; priority: number } {
  const view = asBuffer(row);
  return { ekey: row.subarray(0, 16), size: view.readUIntBE(16, 5), priority: row[21]! - priorityBias };
}
