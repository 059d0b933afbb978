import { breathe } from '../../../core/breathe.ts';
import { IdSet } from '../../../core/tables/id-set.ts';
import type { WowRootBlock } from '../../../formats/roots/wow/layout.ts';
import type { LookupFile } from '../../../store/derived/lookup-file.ts';
import type { PickVariant } from '../root.ts';
import { ckeySize, OrderCursor } from './name-order.ts';

/** A root, as far as its files are compared. */
export interface ComparedRoot {
  /** Of the same list of names as that of the other; it has ckeys. */
  order: LookupFile;
  blockOf: (row: number) => WowRootBlock;
}

/** Files that are compared before the clock is looked at. */
const filesPerTurn = 1024;

/**
 * The ids that two roots have under the same name and with the same content. Both are sorted by names, so each is gone through once; a file that
 * the list names otherwise than a root is left to others.
 * @throws E_ABORTED
 */
export async function sameIds(
  one: ComparedRoot,
  other: ComparedRoot,
  { pick, signal }: { pick: PickVariant; signal?: AbortSignal | undefined },
): Promise<IdSet> {
  const same = new IdSet();
  const [left, right] = [new OrderCursor(one.order), new OrderCursor(other.order)];
  const [pickLeft, pickRight] = [picker(one, pick), picker(other, pick)];
  let [isLeft, isRight] = [left.next(), right.next()];
  for (let compared = 1; isLeft && isRight; compared++) {
    const difference = left.offset - right.offset || left.fileDataId - right.fileDataId;
    if (difference === 0 && !left.isMisfit && !right.isMisfit) {
      const [row, otherRow] = [pickLeft(left.rows), pickRight(right.rows)];
      if (row >= 0 && otherRow >= 0 && isEqual(left.ckeys, row, right.ckeys, otherRow)) same.add(left.fileDataId);
    }
    if (difference <= 0) isLeft = left.next();
    if (difference >= 0) isRight = right.next();
    if (compared % filesPerTurn === 0) await breathe(signal);
  }
  return same;
}

/** A function that says which of the rows of a file is picked; -1 where none is. */
function picker({ blockOf }: ComparedRoot, pick: PickVariant): (rows: readonly number[]) => number {
  // Most files have one row, and there are few blocks.
  const picked = new Map<WowRootBlock, boolean>();
  const isPicked = (block: WowRootBlock): boolean => {
    const known = picked.get(block) ?? pick([block]) !== undefined;
    picked.set(block, known);
    return known;
  };
  return (rows) => {
    const [row = 0, another] = rows;
    if (another === undefined) return isPicked(blockOf(row)) ? 0 : -1;
    return pick(rows.map((one, number) => ({ number, ...flagsOf(blockOf(one)) })))?.number ?? -1;
  };
}

function flagsOf({ localeFlags, contentFlags }: WowRootBlock): Pick<WowRootBlock, 'localeFlags' | 'contentFlags'> {
  return { localeFlags, contentFlags };
}

function isEqual(one: Uint8Array, row: number, other: Uint8Array, otherRow: number): boolean {
  for (let i = 0; i < ckeySize; i++) if (one[row * ckeySize + i] !== other[otherRow * ckeySize + i]) return false;
  return true;
}
