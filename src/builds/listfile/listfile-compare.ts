import { breathe } from '../../core/breathe.ts';
import type { ListfileIndex } from './listfile-index.ts';
import type { ListfileWriter } from './listfile-writer.ts';

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
  const olds = unnamed(index?.hashes ?? []);
  let old = olds.next().value;
  const keep = (row: Uint8Array): void => writer.add(undefined, index?.listedName(row).name ?? '');
  // Names that are added meanwhile are not among the rows that are gone through.
  for (const row of unnamed(writer.hashRows())) {
    await breathe(signal);
    for (; old && compareHashes(old, row) < 0; old = olds.next().value) keep(old);
    if (old && compareHashes(old, row) === 0) old = olds.next().value;
    else added += 1;
  }
  for (; old; old = olds.next().value) keep(old);
  return added;
}

/** Of rows sorted by their hashes those without an id, each hash once. */
function* unnamed(rows: Iterable<Uint8Array>): Generator<Uint8Array, undefined> {
  let last: Uint8Array | undefined;
  for (const row of rows) {
    const hasId = row[15] !== 0xff || row[16] !== 0xff || row[17] !== 0xff || row[18] !== 0xff;
    if (hasId || (last !== undefined && compareHashes(last, row) === 0)) continue;
    last = row;
    yield row;
  }
  return undefined;
}

function compareHashes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a.subarray(0, 8), b.subarray(0, 8));
}

/** Counts the ids that are new, have another name, or are gone. @throws E_ABORTED */
export async function compareNames(
  old: ListfileIndex | undefined,
  index: ListfileIndex,
  signal: AbortSignal | undefined,
): Promise<{ added: number; changed: number; removed: number }> {
  const change = { added: 0, changed: 0, removed: 0 };
  const olds = old?.names();
  let before = olds?.next().value;
  for (const { fileDataId, name } of index.names()) {
    await breathe(signal);
    for (; before && before.fileDataId < fileDataId; before = olds?.next().value) change.removed += 1;
    if (!before || before.fileDataId > fileDataId) change.added += 1;
    else {
      if (before.name !== name) change.changed += 1;
      before = olds?.next().value;
    }
  }
  for (; before; before = olds?.next().value) change.removed += 1;
  return change;
}
