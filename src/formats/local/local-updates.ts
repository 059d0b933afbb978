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
const gone = [3, 6, 7];

/** A key as a text that a map can have for a name. */
export function nameOf(key: Uint8Array): string {
  return String.fromCharCode(...key);
}

/**
 * Reads the updates.
 * @param starts where they may begin: the first of these at which there are any counts
 * @returns the rows by {@link nameOf} their key: the last one for each, undefined for what is gone
 */
export function decodeUpdates(bytes: Uint8Array, starts: readonly number[]): Map<string, Uint8Array | undefined> {
  const rows = new Map<string, Uint8Array | undefined>();
  for (const start of starts) {
    for (const row of updateRows(bytes, start)) {
      const entry = row.subarray(4, 4 + entrySize);
      rows.set(nameOf(entry.subarray(0, 9)), gone.includes(row[22]!) ? undefined : entry);
    }
    if (rows.size > 0) break;
  }
  return rows;
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

/** Writes updates: rows of 18 bytes as in the sorted part, each with its status. */
export function encodeUpdates(updates: readonly { row: Uint8Array; status: number }[]): Uint8Array {
  const writer = new ByteWriter(pageSize);
  for (const [i, { row, status }] of updates.entries()) {
    if (i > 0 && i % rowsPerPage === 0) writer.zeros(pageSize - rowsPerPage * rowSize);
    const rest = new ByteWriter(20).raw(row).u8(status).u8(0).bytes();
    writer.u32le(guardOf(rest)).raw(rest);
  }
  return writer.zeros((pageSize - (writer.size % pageSize)) % pageSize).bytes();
}
