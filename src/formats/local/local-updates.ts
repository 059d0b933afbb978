/*
 * The end of an .idx file: what changed since its rows were sorted. Pages of 512 bytes, filled from the front, with 21 rows each:
 *
 *   guard   u32   hashlittle of the next 20 bytes, with the top bit set
 *   key     9     leading bytes of the ekey
 *   place   5     as in the sorted rows
 *   size    u32
 *   status  u8    3: deleted; 6, 7: not on this disk; else there
 *   zero    u8
 *
 * Later rows go before earlier ones, and all of them before the sorted rows. The client writes while we read: what has no right guard
 * has not been written yet, and ends the list.
 * (CascLib and wowdev.wiki CASC; no real .idx file was at hand)
 */
import { hashLittle } from '../../core/jenkins.ts';
import { ByteWriter } from '../../core/writer.ts';

const pageSize = 0x200;
const rowSize = 24;
const rowsPerPage = 21;
/** Key, place and size: the part of a row that looks like a sorted row. */
const entrySize = 18;

/** A change of a row. */
export interface LocalUpdate {
  /** 18 bytes, as a sorted row. */
  readonly row: Uint8Array;
  /** 3: deleted; 6 and 7: not on this disk; else there. */
  readonly status: number;
}

/**
 * Reads the updates of an index, in the order in which they came.
 * @param starts where they may begin, one at least: the first of these at which there are any counts, else the last
 */
export function decodeLocalUpdates(
  bytes: Uint8Array,
  starts: readonly number[],
): { updates: LocalUpdate[]; start: number } {
  let found: { updates: LocalUpdate[]; start: number } = { updates: [], start: 0 };
  for (const start of starts) {
    const rows = updateRows(bytes, start);
    found = { updates: Array.from(rows, (row) => ({ row: row.subarray(4, 4 + entrySize), status: row[22]! })), start };
    if (found.updates.length > 0) break;
  }
  return found;
}

function* updateRows(bytes: Uint8Array, start: number): Generator<Uint8Array> {
  for (let page = start; page + pageSize <= bytes.length; page += pageSize) {
    for (let i = 0; i < rowsPerPage; i++) {
      const row = bytes.subarray(page + i * rowSize, page + (i + 1) * rowSize);
      if (!isWritten(row)) {
        if (i === 0) return;
        break;
      }
      yield row;
    }
  }
}

function isWritten(row: Uint8Array): boolean {
  const guard = new DataView(row.buffer, row.byteOffset, 4).getUint32(0, true);
  return guard !== 0 && guard === guardOf(row.subarray(4));
}

function guardOf(rest: Uint8Array): number {
  return (hashLittle(rest) | 0x8000_0000) >>> 0;
}

/** Writes updates: whole pages. */
export function encodeLocalUpdates(updates: readonly LocalUpdate[]): Uint8Array {
  const writer = new ByteWriter(pageSize);
  for (const [i, { row, status }] of updates.entries()) {
    if (i > 0 && i % rowsPerPage === 0) writer.zeros(pageSize - rowsPerPage * rowSize);
    const rest = new ByteWriter(20).raw(row).u8(status).u8(0).bytes();
    writer.u32le(guardOf(rest)).raw(rest);
  }
  return writer.zeros((pageSize - (writer.size % pageSize)) % pageSize).bytes();
}
