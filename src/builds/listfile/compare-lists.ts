import { breathe } from '../../core/breathe.ts';
import { u32At } from '../../core/bytes.ts';
import type { RecordTable } from '../../core/tables/record-table.ts';
import type { LookupFile } from '../../store/derived/lookup-file.ts';
import { type ListfileIndex, listedName } from './listfile-index.ts';
import { listfileRows } from './listfile-paths.ts';
import type { ListfileWriter } from './write/listfile-writer.ts';

const { idStride } = listfileRows;
/** Where the name hash is in a row of BASE.ids. */
const hashAt = 11;

/* Two versions of the list of names beside each other, in the order in which both are sorted: neither is held in memory. */

/**
 * Adds the names without an id that only the old version has.
 * @returns how many only the new one has
 * @throws E_ABORTED
 */
export async function keepUnnamed(
  writer: ListfileWriter,
  index: ListfileIndex | undefined,
  signal: AbortSignal | undefined,
): Promise<number> {
  let added = 0;
  // Where there are as many ids as lines, none is without.
  const olds = unnamed(index !== undefined && index.hashes.count > index.ids.count ? index.hashes : []);
  let old = olds.next().value;
  const keep = (row: Uint8Array): void => {
    const bytes = Buffer.from(index?.nameAt(listedName(row)) ?? '');
    writer.add(undefined, { bytes, start: 0, end: bytes.length });
  };
  // Names that are added meanwhile are not among the rows that are gone through.
  for (const row of unnamed(writer.unnamedHashes())) {
    await breathe(signal);
    for (; old && compareHashes(old, row) < 0; old = olds.next().value) keep(old);
    if (old && compareHashes(old, row) === 0) old = olds.next().value;
    else added += 1;
  }
  for (; old; old = olds.next().value) keep(old);
  return added;
}

/** Of rows sorted by their hashes, and mere hashes, those without an id, each hash once. */
function* unnamed(rows: Iterable<Uint8Array>): Generator<Uint8Array, undefined> {
  let last: Uint8Array | undefined;
  for (const row of rows) {
    const hasId = row.length > 8 && listedName(row).fileDataId !== undefined;
    if (hasId || (last !== undefined && compareHashes(last, row) === 0)) continue;
    last = row;
    yield row;
  }
  return undefined;
}

function compareHashes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a.subarray(0, 8), b.subarray(0, 8));
}

/** Counts the ids that are new, have another name, or are gone: of rows of BASE.ids, old and new. @throws E_ABORTED */
export async function compareNames(
  old: LookupFile | undefined,
  ids: LookupFile,
  signal: AbortSignal | undefined,
): Promise<{ added: number; changed: number; removed: number }> {
  const change = { added: 0, changed: 0, removed: 0 };
  if (old === undefined) return { ...change, added: ids.count };
  const before = new IdRows(old);
  let isLeft = before.next();
  for (const { bytes, stride } of ids.tables({ isReused: true })) {
    await breathe(signal);
    for (let at = 0; at < bytes.length; at += stride) {
      const id = u32At(bytes, at);
      for (; isLeft && before.id < id; isLeft = before.next()) change.removed += 1;
      if (!isLeft || before.id > id) {
        change.added += 1;
        continue;
      }
      if (!before.hasHash(bytes, at + hashAt)) change.changed += 1;
      isLeft = before.next();
    }
  }
  for (; isLeft; isLeft = before.next()) change.removed += 1;
  return change;
}

/** The rows of BASE.ids one by one, as bytes. */
class IdRows {
  id = 0;
  readonly #tables: Iterator<RecordTable>;
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;

  constructor(ids: LookupFile) {
    this.#tables = ids.tables({ isReused: true });
  }

  /** Goes to the next row; false at the end. */
  next(): boolean {
    this.#at += idStride;
    if (this.#at >= this.#bytes.length) {
      const { done, value } = this.#tables.next();
      if (done === true) return false;
      this.#bytes = value.bytes;
      this.#at = 0;
    }
    this.id = u32At(this.#bytes, this.#at);
    return true;
  }

  /** Whether a name hash is that of the row. */
  hasHash(bytes: Uint8Array, at: number): boolean {
    for (let i = 0; i < 8; i++) if (bytes[at + i] !== this.#bytes[this.#at + hashAt + i]) return false;
    return true;
  }
}
